#!/bin/sh
# What the test programs say to somebody who runs them by hand.
#
#     tests/usage.sh TEST_CONTRACT TEST_SIM_SERVER
set -u

contract=$1
sim=$2
failed=0

# expect CODE WORDS COMMAND...: its exit code, and words of what it says.
expect() {
    code=$1
    words=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    case $said in
    *"$words"*) [ "$got" -eq "$code" ] && return ;;
    esac
    printf '%s\n' "$*" "  wanted $code and: $words" "  got $got and: $said"
    failed=1
}

expect 1 "no rule matches '*nosuch*'" "$contract" '*nosuch*'
expect 0 'PASSED' "$contract" '*: *reset*'

for seed in abc '' -1 1x ' 1' 99999999999999999999; do
    expect 2 'usage: test_sim_server' "$sim" --seed "$seed"
    expect 2 'usage: test_sim_server' "$sim" --seeds "0:$seed"
    expect 2 'usage: test_sim_server' "$sim" --seeds "$seed:1"
done
expect 2 'usage: test_sim_server' "$sim" --seed
expect 2 'usage: test_sim_server' "$sim" --seeds 5
expect 0 'ok: 1 seeds' "$sim" --seed 0x11
expect 0 ', nothing to shrink' "$sim" --seed 17 --shrink

exit $failed

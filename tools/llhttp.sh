#!/bin/sh
# Put upstream's generated C of llhttp into a folder, by way of pip.
#
#     tools/llhttp.sh PYTHON FOLDER
#
# For systems whose own llhttp is older than 9.3. tools/llhttp.txt pins the
# source package by version and hash. -I: pip as PYTHON has it, also inside a
# build that pip isolates.
set -eu

python=$1
folder=$2
work=$folder.new

rm -rf "$work"
"$python" -I -m pip download -q --no-deps --no-binary httptools \
    --require-hashes -r "$(dirname "$0")/llhttp.txt" -d "$work"
tar -xzf "$work"/httptools-*.tar.gz -C "$work"
rm -rf "$folder"
mv "$work"/httptools-*/vendor/llhttp "$folder"
rm -rf "$work"

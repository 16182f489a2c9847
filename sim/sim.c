/* sim.c - placeholder. */

int xs_sim_placeholder(void);
int xs_sim_placeholder(void)
{
    return 0;
}

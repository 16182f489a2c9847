/* io.c - placeholder. */

int xs_io_placeholder(void);
int xs_io_placeholder(void)
{
    return 0;
}

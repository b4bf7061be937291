/* What a placeholder pod and every pod sandbox runs: wait, collect orphans, leave at the first signal. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(int number) {
    (void)number;
    _exit(0);
}

static void collect(int number) {
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
}

int main(void) {
    signal(SIGINT, leave);
    signal(SIGTERM, leave);
    signal(SIGCHLD, collect);
    for (;;) {
        pause();
    }
}

/* A clock that is wrong: with LD_PRELOAD, a program sees the time CLOCK_AHEAD seconds away (negative: behind).
   Only wall-clock time moves; files keep the time of the kernel. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
    const char *said = getenv("CLOCK_AHEAD");
    return said ? atol(said) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *found) {
    int answer = syscall(SYS_clock_gettime, clock, found);
    if (answer == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        found->tv_sec += ahead();
    }
    return answer;
}

int gettimeofday(struct timeval *restrict found, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) {
        *found = now.tv_sec;
    }
    return now.tv_sec;
}

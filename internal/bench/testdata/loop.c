/* Write to stamp in C, as the bench's Go loops do it: one thread waits for an
   absolute time, stamps, writes one byte to the master of a pseudo-terminal;
   another polls, reads the slave, stamps. Prints woke -> arrived in whole
   microseconds, a line each.
   Arguments: count, period in ns, SCHED_FIFO priority. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static long count;
static long long period;
static int priority, master, slave;
static long long *woke, *arrived;

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void realtime(void)
{
	struct sched_param p = { .sched_priority = priority };
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &p))
		fprintf(stderr, "loop: no SCHED_FIFO %d\n", priority);
}

static void *receiver(void *unused)
{
	char b[4096];
	long n = 0;
	realtime();
	while (n < count) {
		struct pollfd p = { .fd = slave, .events = POLLIN };
		if (poll(&p, 1, 100) <= 0)
			continue;
		ssize_t r = read(slave, b, sizeof b);
		long long t = now();
		for (; r > 0 && n < count; r--)
			arrived[n++] = t;
	}
	return unused;
}

int main(int argc, char **argv)
{
	struct termios t;
	pthread_t thread;
	if (argc != 4)
		return 2;
	count = atol(argv[1]);
	period = atoll(argv[2]);
	priority = atoi(argv[3]);
	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) || unlockpt(master))
		return perror("pty"), 1;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0 || tcgetattr(slave, &t))
		return perror("pts"), 1;
	cfmakeraw(&t);
	tcsetattr(slave, TCSANOW, &t);
	fcntl(master, F_SETFL, fcntl(master, F_GETFL) | O_NONBLOCK);
	fcntl(slave, F_SETFL, fcntl(slave, F_GETFL) | O_NONBLOCK);
	int latency = 0, idle = open("/dev/cpu_dma_latency", O_RDWR);
	if (idle >= 0 && write(idle, &latency, sizeof latency) < 0)
		perror("cpu_dma_latency");
	woke = calloc(count, sizeof *woke);
	arrived = calloc(count, sizeof *arrived);
	memset(woke, 1, count * sizeof *woke);
	memset(arrived, 1, count * sizeof *arrived);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		perror("mlockall");
	pthread_create(&thread, NULL, receiver, NULL);
	realtime();
	long long due = now() + period;
	for (long n = 0; n < count; n++, due += period) {
		struct timespec at = { due / 1000000000, due % 1000000000 };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
			;
		woke[n] = now();
		if (write(master, " ", 1) != 1)
			return perror("write"), 1;
	}
	pthread_join(thread, NULL);
	for (long n = 0; n < count; n++)
		printf("%lld\n", (arrived[n] - woke[n]) / 1000);
	return 0;
}

/* Lateness of the periodic timer in C: a timerfd with a period, waited for with
   poll, as sender's --timer periodic does. Prints woke - due in whole
   microseconds, a line each.
   Arguments: count, period in ns, SCHED_FIFO priority. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	long count = atol(argv[1]);
	long long period = atoll(argv[2]);
	struct sched_param p = { .sched_priority = atoi(argv[3]) };
	int latency = 0, idle = open("/dev/cpu_dma_latency", O_RDWR);
	if (idle >= 0 && write(idle, &latency, sizeof latency) < 0)
		perror("cpu_dma_latency");
	long long *late = calloc(count, sizeof *late);
	memset(late, 1, count * sizeof *late);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		perror("mlockall");
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		fprintf(stderr, "timerfd: no SCHED_FIFO %d\n", p.sched_priority);
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	long long due = now() + period;
	struct itimerspec s = {
		.it_interval = { period / 1000000000, period % 1000000000 },
		.it_value = { due / 1000000000, due % 1000000000 },
	};
	if (fd < 0 || timerfd_settime(fd, TFD_TIMER_ABSTIME, &s, NULL))
		return perror("timerfd"), 1;
	for (long n = 0; n < count; due += period) {
		uint64_t expiries;
		struct pollfd f = { .fd = fd, .events = POLLIN };
		long long woke;
		do {
			if (read(fd, &expiries, sizeof expiries) < 0)
				expiries = 0;
			poll(&f, 1, 100);
		} while ((woke = now()) < due);
		late[n++] = woke - due;
	}
	for (long n = 0; n < count; n++)
		printf("%lld\n", late[n] / 1000);
	return 0;
}

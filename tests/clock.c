/*
 * A clock for tests: preloaded into a server (LD_PRELOAD), it answers what asks for the time of day by
 * the file that TEST_CLOCK names, which Snowid::Clock writes while the server runs. Monotonic clocks
 * and the rest of the machine stay as they are.
 *
 * PostgreSQL looks at the time in signal handlers too (its timeouts), so a look takes no lock and
 * allocates nothing. libfaketime, which opens and reads its file by stdio at each look, does both:
 * under it a backend that a timeout interrupted in a look hung, or ended with a broken heap.
 *
 * The file holds one number twice, each 8 bytes: microseconds, shifted left by one. If the lowest bit
 * is set the clock stands at them, since 1970; else it runs, so far ahead of the machine's.
 * The writer writes the first, then the second; whoever reads the second, then the first, and finds
 * them equal has not read one that is half written.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *set;

__attribute__((constructor)) static void find(void)
{
	const char *name = getenv("TEST_CLOCK");
	int file = name ? open(name, O_RDONLY) : -1;
	void *map = mmap(NULL, 16, PROT_READ, MAP_SHARED, file, 0);

	if (map == MAP_FAILED)
	{
		static const char says[] = "the clock's file can't be read\n";
		(void) !write(2, says, sizeof(says) - 1);
		_exit(1);
	}
	close(file);
	set = map;
}

static void put_in(struct timespec *time)
{
	int64_t first, second, us;

	do
	{
		second = __atomic_load_n(&set[1], __ATOMIC_ACQUIRE);
		first = __atomic_load_n(&set[0], __ATOMIC_ACQUIRE);
	} while (first != second);

	us = first >> 1;
	if (!(first & 1))
		us += time->tv_sec * INT64_C(1000000) + time->tv_nsec / 1000;
	time->tv_sec = us / 1000000;
	time->tv_nsec = us % 1000000 * 1000;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int status = syscall(SYS_clock_gettime, clock, time);

	if (set && status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		put_in(time);
	return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;
	int status = clock_gettime(CLOCK_REALTIME, &now);

	(void) zone;
	*time = (struct timeval) { now.tv_sec, now.tv_nsec / 1000 };
	return status;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

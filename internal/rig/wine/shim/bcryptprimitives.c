/* bcryptprimitives.dll for Wine older than 9: Go's runtime (1.22 and later)
 * does not start without its ProcessPrng. Randomness for tests only: rdtsc and
 * splitmix64. setup builds it with the host's compiler, without mingw. */
typedef unsigned long long u64;

__attribute__((ms_abi)) int DllMain(void *module, unsigned reason, void *reserved)
{
	(void)module, (void)reason, (void)reserved;
	return 1;
}

__attribute__((ms_abi)) int ProcessPrng(unsigned char *out, u64 length)
{
	unsigned low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	u64 state = ((u64)high << 32 | low) ^ (u64)out;
	for (u64 i = 0; i < length; i++) {
		state += 0x9e3779b97f4a7c15ULL;
		u64 z = state;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
		z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
		out[i] = (unsigned char)(z ^ z >> 31);
	}
	return 1;
}

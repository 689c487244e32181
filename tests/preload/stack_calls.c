/* SPDX-License-Identifier: MIT */
/*
 * A program that knows its own call chains.  Each scene waits in one way, and prints the functions that its stack must
 * have, the outermost first, for stacks.sh.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAME __attribute__((noinline, noclone))
#define KEEP() __asm__ __volatile__("" ::: "memory") /* after a call: it is no tail call */
#define SOME_US 2000

FRAME static void wait_here(void)
{
	usleep(SOME_US);
	KEEP();
}

FRAME static void inner(void)
{
	wait_here();
	KEEP();
}

FRAME static void outer(void)
{
	inner();
	KEEP();
}

FRAME static int again(int n)
{
	if (n == 0)
		wait_here();
	else
		again(n - 1);
	KEEP();
	return n;
}

/* A frame of variable size has a frame pointer, whatever the options of the compiler. */
FRAME static void with_frame_pointer(size_t size, void (*call)(void))
{
	char *volatile memory = alloca(size);

	memory[0] = 0;
	call();
	KEEP();
}

/* Vectors that need more alignment than the stack has: the function aligns its frame. */
FRAME static void aligned(void (*call)(void))
{
	volatile char vector[64] __attribute__((aligned(128), unused));

	vector[0] = 0;
	call();
	vector[1] = vector[0];
	KEEP();
}

static void deep(void)
{
	outer();
	puts("main;deep;outer;inner;wait_here");
}

static void recursion(void)
{
	again(5);
	puts("main;recursion;again;again;again;again;again;again;wait_here");
}

static void abyss(void)
{
	again(100);
}

static void frames(void)
{
	with_frame_pointer(100, inner);
	puts("main;frames;with_frame_pointer;inner;wait_here");
	aligned(inner);
	puts("main;frames;aligned;inner;wait_here");
}

FRAME static void *run(void *argument)
{
	outer();
	KEEP();
	return argument;
}

static void thread(void)
{
	pthread_t other;

	pthread_create(&other, NULL, run, NULL);
	pthread_join(other, NULL);
	puts("run;outer;inner;wait_here");
}

/* A thread whose small stack is memory of the program, without a guard page. */
static void small(void)
{
	static char memory[65536] __attribute__((aligned(4096)));
	pthread_attr_t attr;
	pthread_t other;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, memory, sizeof(memory));
	pthread_create(&other, &attr, run, NULL);
	pthread_join(other, NULL);
	pthread_attr_destroy(&attr);
	puts("run;outer;inner;wait_here");
}

FRAME static void clean(void *argument)
{
	(void)argument;
	inner();
	KEEP();
}

FRAME static void *wait_forever(void *argument)
{
	pthread_cleanup_push(clean, NULL);
	for (;;)
		usleep(1000000);
	pthread_cleanup_pop(0);
	return argument;
}

/* The cancellation of a thread leaves a wrapper that waits, and its cleanup handler waits again. */
static void cancel(void)
{
	pthread_t other;

	pthread_create(&other, NULL, wait_forever, NULL);
	usleep(20000);
	pthread_cancel(other);
	pthread_join(other, NULL);
	outer();
	puts("wait_forever;*clean;inner;wait_here");
	puts("main;cancel;outer;inner;wait_here");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

FRAME static void *contend(void *argument)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	KEEP();
	return argument;
}

static void mutex(void)
{
	pthread_t other;

	pthread_mutex_lock(&lock);
	pthread_create(&other, NULL, contend, NULL);
	usleep(50000);
	pthread_mutex_unlock(&lock);
	pthread_join(other, NULL);
	puts("start_thread;run_thread;contend");
}

FRAME static void handle(int number)
{
	(void)number;
	inner();
	KEEP();
}

FRAME static void raise_here(void)
{
	raise(SIGUSR1);
	KEEP();
}

static void handler(void)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise_here();
	puts("main;handler;raise_here;*;handle;inner;wait_here");
	action.sa_flags = 0;
	sigaction(SIGUSR1, &action, NULL);
	with_frame_pointer(200, raise_here);
	puts("main;handler;with_frame_pointer;raise_here;*;handle;inner;wait_here");
}

static ucontext_t here, there;

FRAME static void coroutine(void)
{
	outer();
	KEEP();
}

static void switches(void)
{
	size_t size = 65536;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&there);
	there.uc_stack.ss_sp = memory;
	there.uc_stack.ss_size = size;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	swapcontext(&here, &there);
	munmap(memory, size);
	puts("coroutine;outer;inner;wait_here");
}

/* A constructor of the program runs before main(). */
__attribute__((constructor)) static void early(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "constructor") == 0) {
		inner();
		puts("early;inner;wait_here");
		KEEP();
	}
}

static void nothing(void)
{
}

static void forks(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		outer();
		exit(0);
	}
	waitpid(child, &status, 0);
	puts("forks;outer;inner;wait_here");
}

/* A module without unwind tables calls back. */
static void hopeless(void)
{
	void *object = dlopen("./hopeless.so", RTLD_NOW);
	void (*pass)(void (*)(void)) = object ? (void (*)(void (*)(void)))dlsym(object, "pass") : NULL;

	if (!pass)
		exit(1);
	pass(inner);
	KEEP();
}

#if defined(__x86_64__)

/*
 * These functions need tables with rsp only.  One register is saved, so the stack is aligned for the call; the compiler
 * must not conclude that they call nothing.
 */
#if defined(__clang__)
#define WITH_RSP
#else
#define WITH_RSP __attribute__((noipa, optimize("O2", "omit-frame-pointer")))
#endif

/* Wait with this value in rbp. */
FRAME WITH_RSP static void wait_with_rbp(uintptr_t value)
{
	__asm__ __volatile__("movq %%rbp, %%rbx\n\t"
			     "movq %%rax, %%rbp\n\t"
			     "call usleep@PLT\n\t"
			     "movq %%rbx, %%rbp"
			     : "+a"(value)
			     : "D"(SOME_US)
			     : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static uintptr_t chosen;

FRAME static void wait_chosen(void)
{
	wait_with_rbp(chosen);
	KEEP();
}

static void hostile(void)
{
	static uintptr_t loop[2];
	char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uintptr_t values[] = {1,
				    UINT64_C(0xDEADBEEFDEADBEE8),
				    (uintptr_t)gone,
				    (uintptr_t)loop,
				    UINT64_C(0x7FFFFFFFFFF8),
				    UINT64_C(0xFFFFFFFFFFFFFFF8),
				    0};

	munmap(gone, 4096);
	loop[0] = (uintptr_t)loop;
	loop[1] = (uintptr_t)wait_chosen;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		chosen = values[i];
		with_frame_pointer(64, wait_chosen);
	}
	puts("wait_chosen;wait_with_rbp");
}

/*
 * Call a function at the top of another stack.  The tables do not know of the switch, so the next frame is beyond it.
 */
FRAME WITH_RSP static void call_at(void (*call)(void), char *top)
{
	__asm__ __volatile__("movq %%rsp, %%rbx\n\t"
			     "movq %1, %%rsp\n\t"
			     "call *%0\n\t"
			     "movq %%rbx, %%rsp"
			     :
			     : "r"(call), "r"(top)
			     : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

static void edge(void)
{
	size_t size = 65536;
	char *memory = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(memory, size, PROT_READ | PROT_WRITE);
	call_at(outer, memory + size);
	puts("outer;inner;wait_here");
}
#else
static void hostile(void)
{
}

static void edge(void)
{
}
#endif

static int ends;

static void *wait_often(void *argument)
{
	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED))
		usleep(30);
	return argument;
}

FRAME static void visit(const char *path)
{
	void *object = dlopen(path, RTLD_NOW);
	void (*pass)(void (*)(void)) = object ? (void (*)(void (*)(void)))dlsym(object, "pass") : NULL;

	if (!pass)
		exit(1);
	pass(wait_here);
	dlclose(object);
}

/* Two modules that the loader puts at the same address in turn. */
static void modules(void)
{
	pthread_t other;

	pthread_create(&other, NULL, wait_often, NULL);
	for (int i = 0; i < 50; i++)
		visit(i % 2 ? "./one.so" : "./two.so");
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	pthread_join(other, NULL);
	puts("main;modules;visit;*;wait_here");
}

/* Calls that take free locks, and a call that waits. */
static void bound(void)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	wait_here();
	puts("main;bound;wait_here");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenes[] = {{"deep", deep},	    {"recursion", recursion}, {"abyss", abyss},	      {"frames", frames},
		      {"thread", thread},   {"mutex", mutex},	      {"handler", handler},   {"coroutine", switches},
		      {"constructor", nothing}, {"fork", forks},      {"hopeless", hopeless}, {"hostile", hostile},
		      {"edge", edge},	    {"small", small},	      {"cancel", cancel},
		      {"modules", modules}, {"bound", bound}};

	for (size_t i = 0; argc == 2 && i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (strcmp(argv[1], scenes[i].name) == 0) {
			scenes[i].run();
			return 0;
		}
	return 2;
}

/* SPDX-License-Identifier: MIT */
/*
 * The first process of the machine that tests/vm/check.sh boots.  It loads the modules that it finds in /modules, in
 * the order of their names.  It mounts the disks: the first one is the root directory, the second one is mounted in it,
 * at /vm.  Then it runs /vm/run there, and turns the machine off.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULES_MAX 16
#define PATIENCE_MS 20000

static __attribute__((noreturn)) void turn_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static void complain(const char *what)
{
	fprintf(stderr, "init: %s: %s\n", what, strerror(errno));
}

static void load_modules(void)
{
	for (int i = 0; i < MODULES_MAX; i++) {
		char path[32];
		int file;

		snprintf(path, sizeof(path), "/modules/%02d.ko", i);
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file < 0)
			return;
		if (syscall(SYS_finit_module, file, "", 0) != 0 && errno != EEXIST)
			complain(path);
		close(file);
	}
}

static void mount_disk(const char *disk, const char *directory)
{
	mkdir(directory, 0755);
	for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
		if (mount(disk, directory, "ext4", 0, NULL) == 0)
			return;
		usleep(10000);
	}
	complain(disk);
	turn_off();
}

static __attribute__((noreturn)) void run(void)
{
	setsid();
	if (chdir("/root") != 0 || chroot(".") != 0 || chdir("/") != 0)
		complain("/root");
	execl("/bin/bash", "bash", "/vm/run", (char *)NULL);
	complain("/bin/bash");
	_exit(1);
}

int main(void)
{
	pid_t child, ended;

	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	load_modules();
	mount_disk("/dev/vda", "/root");
	mount_disk("/dev/vdb", "/root/vm");
	mount("proc", "/root/proc", "proc", 0, NULL);
	mount("sysfs", "/root/sys", "sysfs", 0, NULL);
	mount("/dev", "/root/dev", NULL, MS_MOVE, NULL);
	child = fork();
	if (child == 0)
		run();
	while ((ended = wait(NULL)) != child)
		if (ended < 0 && errno != EINTR)
			break;
	turn_off();
}

/* SPDX-License-Identifier: MIT */
/*
 * The compiler includes this first in each file of the library that is linked into the preloaded object.  Calls of the
 * functions in direct.def then go to px_direct_NAME (direct.c), and so to the C library itself.  So these calls do not
 * reach our wrappers.  They also do not reach functions of other objects, which may take a lock or call a function that
 * we wrap.
 */
#ifndef PX_PRELOAD_DIRECT_H
#define PX_PRELOAD_DIRECT_H

/*
 * The gate (trace/process.h) is open until our constructor has run, so that calls from earlier constructors look up the
 * real functions.
 */
#define PX_GATE_AT_FIRST 1

/*
 * The constructor of the library leaves the former logs that this object may continue.  A later constructor of this
 * object recovers the others (px_recover_own()).
 */
#define PX_TAKES_FORMER_LOG true

#if !defined PX_BASE_SYSTEM_H && (defined __x86_64__ || defined __aarch64__)
#define PX_SYSTEM_PROGRAM_CLOCK "px_system_clock_gettime"
#endif

#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/system.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define PX_DIRECT(name) extern __typeof__(name) name __asm__("px_direct_" #name);
#include "direct.def"
#pragma GCC diagnostic pop

#endif

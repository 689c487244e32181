/* SPDX-License-Identifier: MIT */
/*
 * The compiler includes this first in each file of the library that is linked into the preloaded object.  Calls of
 * wrapped functions then go to px_direct_NAME (direct.c), and so to the real functions.  direct.def lists only
 * functions that the library calls.
 */
#ifndef PX_PRELOAD_DIRECT_H
#define PX_PRELOAD_DIRECT_H

/*
 * The gate is open until our constructor has run, so that calls from earlier constructors look up the real
 * functions.
 */
#define PX_GATE_AT_FIRST 1

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#define PX_DIRECT(name) extern __typeof__(name) name __asm__("px_direct_" #name);
#include "direct.def"
#pragma GCC diagnostic pop

#endif

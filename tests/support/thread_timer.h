/* SPDX-License-Identifier: MIT */
/* sigev_notify_thread_id, the thread that a timer signals: glibc has this name only from 2.40 on. */
#ifndef PX_TESTS_SUPPORT_THREAD_TIMER_H
#define PX_TESTS_SUPPORT_THREAD_TIMER_H

#include <signal.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Where time_t has 32 bits, the C library has a second form of each function that takes a time, with times of 64 bits.
 * A program that is compiled with -D_TIME_BITS=64 calls this form, by another symbol.
 *
 * The wrappers that look at a time are compiled twice.  The second time, the compiler has -D_TIME_BITS=64 and includes
 * this header first.  Then each function here is the one with times of 64 bits: the wrapper, the real function that it
 * calls, and the number of the wrapper.  Files that are compiled twice have all else between #ifndef PX_TIME64 and
 * #endif.
 */
#ifndef PX_PRELOAD_TIME64_H
#define PX_PRELOAD_TIME64_H

#define PX_TIME64

#include "real.h"

_Static_assert(sizeof(time_t) == 8, "the compiler has the options for times of 64 bits");

#define pthread_timedjoin_np __pthread_timedjoin_np64
#define pthread_clockjoin_np __pthread_clockjoin_np64
#define pthread_mutex_timedlock __pthread_mutex_timedlock64
#define pthread_mutex_clocklock __pthread_mutex_clocklock64
#define mtx_timedlock __mtx_timedlock64
#define pthread_rwlock_timedrdlock __pthread_rwlock_timedrdlock64
#define pthread_rwlock_clockrdlock __pthread_rwlock_clockrdlock64
#define pthread_rwlock_timedwrlock __pthread_rwlock_timedwrlock64
#define pthread_rwlock_clockwrlock __pthread_rwlock_clockwrlock64
#define pthread_cond_timedwait __pthread_cond_timedwait64
#define pthread_cond_clockwait __pthread_cond_clockwait64
#define cnd_timedwait __cnd_timedwait64
#define sem_timedwait __sem_timedwait64
#define sem_clockwait __sem_clockwait64
#define mq_timedsend __mq_timedsend_time64
#define mq_timedreceive __mq_timedreceive_time64
#define semtimedop __semtimedop64
#define nanosleep __nanosleep64
#define clock_nanosleep __clock_nanosleep_time64
#define thrd_sleep __thrd_sleep64
#define sigtimedwait __sigtimedwait64
#define ppoll __ppoll64
#define __ppoll_chk __ppoll64_chk
#define select __select64
#define pselect __pselect64
#define epoll_pwait2 __epoll_pwait2_time64
#define aio_suspend __aio_suspend_time64
#define timer_settime __timer_settime64

#endif

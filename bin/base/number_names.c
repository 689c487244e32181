/* SPDX-License-Identifier: MIT */
/*
 * glibc has these names from 2.32 on.  Older versions and other C libraries do not have them, so there they come from
 * tables, which have the names of Linux.
 */
#include "config.h"

#include "base/number_names.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#if defined HAVE_STRERRORNAME_NP && !defined PX_NAMES_BY_TABLE

const char *error_number_name(int error)
{
	return strerrorname_np(error);
}

#else

const char *error_number_name(int error)
{
#define ROW(name) [name] = #name
	static const char *const names[] = {
		[0] = "0",
		ROW(EPERM), ROW(ENOENT), ROW(ESRCH), ROW(EINTR), ROW(EIO), ROW(ENXIO), ROW(E2BIG), ROW(ENOEXEC),
		ROW(EBADF), ROW(ECHILD), ROW(EAGAIN), ROW(ENOMEM), ROW(EACCES), ROW(EFAULT), ROW(ENOTBLK),
		ROW(EBUSY), ROW(EEXIST), ROW(EXDEV), ROW(ENODEV), ROW(ENOTDIR), ROW(EISDIR), ROW(EINVAL),
		ROW(ENFILE), ROW(EMFILE), ROW(ENOTTY), ROW(ETXTBSY), ROW(EFBIG), ROW(ENOSPC), ROW(ESPIPE),
		ROW(EROFS), ROW(EMLINK), ROW(EPIPE), ROW(EDOM), ROW(ERANGE), ROW(EDEADLK), ROW(ENAMETOOLONG),
		ROW(ENOLCK), ROW(ENOSYS), ROW(ENOTEMPTY), ROW(ELOOP), ROW(ENOMSG), ROW(EIDRM), ROW(ECHRNG),
		ROW(EL2NSYNC), ROW(EL3HLT), ROW(EL3RST), ROW(ELNRNG), ROW(EUNATCH), ROW(ENOCSI), ROW(EL2HLT),
		ROW(EBADE), ROW(EBADR), ROW(EXFULL), ROW(ENOANO), ROW(EBADRQC), ROW(EBADSLT), ROW(EBFONT),
		ROW(ENOSTR), ROW(ENODATA), ROW(ETIME), ROW(ENOSR), ROW(ENONET), ROW(ENOPKG), ROW(EREMOTE),
		ROW(ENOLINK), ROW(EADV), ROW(ESRMNT), ROW(ECOMM), ROW(EPROTO), ROW(EMULTIHOP), ROW(EDOTDOT),
		ROW(EBADMSG), ROW(EOVERFLOW), ROW(ENOTUNIQ), ROW(EBADFD), ROW(EREMCHG), ROW(ELIBACC),
		ROW(ELIBBAD), ROW(ELIBSCN), ROW(ELIBMAX), ROW(ELIBEXEC), ROW(EILSEQ), ROW(ERESTART),
		ROW(ESTRPIPE), ROW(EUSERS), ROW(ENOTSOCK), ROW(EDESTADDRREQ), ROW(EMSGSIZE), ROW(EPROTOTYPE),
		ROW(ENOPROTOOPT), ROW(EPROTONOSUPPORT), ROW(ESOCKTNOSUPPORT), ROW(EOPNOTSUPP),
		ROW(EPFNOSUPPORT), ROW(EAFNOSUPPORT), ROW(EADDRINUSE), ROW(EADDRNOTAVAIL), ROW(ENETDOWN),
		ROW(ENETUNREACH), ROW(ENETRESET), ROW(ECONNABORTED), ROW(ECONNRESET), ROW(ENOBUFS),
		ROW(EISCONN), ROW(ENOTCONN), ROW(ESHUTDOWN), ROW(ETOOMANYREFS), ROW(ETIMEDOUT),
		ROW(ECONNREFUSED), ROW(EHOSTDOWN), ROW(EHOSTUNREACH), ROW(EALREADY), ROW(EINPROGRESS),
		ROW(ESTALE), ROW(EUCLEAN), ROW(ENOTNAM), ROW(ENAVAIL), ROW(EISNAM), ROW(EREMOTEIO), ROW(EDQUOT),
		ROW(ENOMEDIUM), ROW(EMEDIUMTYPE), ROW(ECANCELED), ROW(ENOKEY), ROW(EKEYEXPIRED),
		ROW(EKEYREVOKED), ROW(EKEYREJECTED), ROW(EOWNERDEAD), ROW(ENOTRECOVERABLE), ROW(ERFKILL),
		ROW(EHWPOISON),
	};
#undef ROW
	return error >= 0 && (size_t)error < sizeof(names) / sizeof(names[0]) ? names[error] : NULL;
}

#endif

#if defined HAVE_SIGABBREV_NP && !defined PX_NAMES_BY_TABLE

const char *signal_number_name(int number)
{
	return sigabbrev_np(number);
}

#else

const char *signal_number_name(int number)
{
#define ROW(name) [SIG##name] = #name
	static const char *const names[] = {
		ROW(HUP), ROW(INT), ROW(QUIT), ROW(ILL), ROW(TRAP), ROW(ABRT), ROW(BUS), ROW(FPE), ROW(KILL), ROW(USR1),
		ROW(SEGV), ROW(USR2), ROW(PIPE), ROW(ALRM), ROW(TERM), ROW(STKFLT), ROW(CHLD), ROW(CONT), ROW(STOP),
		ROW(TSTP), ROW(TTIN), ROW(TTOU), ROW(URG), ROW(XCPU), ROW(XFSZ), ROW(VTALRM), ROW(PROF), ROW(WINCH),
		ROW(POLL), ROW(PWR), ROW(SYS),
	};
#undef ROW
	return number >= 0 && (size_t)number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

#endif

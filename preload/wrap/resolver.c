/* SPDX-License-Identifier: MIT */
/*
 * Questions to name servers.  The C library asks the servers with its own functions, which no wrapper sees.  No test
 * shows before whether a call waits, so each of these calls has two events.
 */
#include "hook.h"
#include "wrap/text_arg.h"

/* Record a question.  result is 0 or minus errno; error is the call's own number for the reason of a failure. */
static void record(struct px_site site, uint32_t flags, const char *host, int error, int64_t result)
{
	struct px_text_arg arg = {
		.data.of_fd = {.fd = -1, .value = (uint32_t)error, .result = result}};
	int saved_errno = errno;

	px_text_arg_record(site, flags, &arg, host);
	errno = saved_errno;
}

PX_WRAP int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
			struct addrinfo **found)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(socket))
		return px_real.getaddrinfo(host, service, hints, found);
	site = PX_SITE(getaddrinfo, getaddrinfo);
	sample = px_hook_begin();
	record(site, PX_RECORD_BEGINS, host, 0, 0);
	result = PX_REAL(&sample, px_real.getaddrinfo(host, service, hints, found));
	record(site, PX_RECORD_ENDS, host, -result, result == EAI_SYSTEM ? -errno : 0);
	px_hook_end(&sample, site.wrapper);
	return result;
}

PX_WRAP int getnameinfo(const struct sockaddr *address, socklen_t length, char *host,
			socklen_t host_size, char *service, socklen_t service_size, int flags)
{
	struct px_site site;
	struct px_hook_sample sample;
	int result;

	if (PX_NOT_TRACED(socket))
		return px_real.getnameinfo(address, length, host, host_size, service, service_size,
					   flags);
	site = PX_SITE(getnameinfo, getnameinfo);
	sample = px_hook_begin();
	record(site, PX_RECORD_BEGINS, NULL, 0, 0);
	result = PX_REAL(&sample, px_real.getnameinfo(address, length, host, host_size, service,
						      service_size, flags));
	record(site, PX_RECORD_ENDS, NULL, -result, result == EAI_SYSTEM ? -errno : 0);
	px_hook_end(&sample, site.wrapper);
	return result;
}

/* The functions that came before getaddrinfo().  Those without _r return NULL and set h_errno. */
#define GETHOST_CALL(site, host, real)                                                             \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		struct hostent *result_;                                                           \
                                                                                                   \
		record(site, PX_RECORD_BEGINS, host, 0, 0);                                        \
		result_ = PX_REAL(&sample_, real);                                                 \
		record(site, PX_RECORD_ENDS, host, result_ ? 0 : h_errno, 0);                      \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result_;                                                                           \
	})

PX_WRAP struct hostent *gethostbyname(const char *host)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.gethostbyname(host);
	site = PX_SITE(gethostbyname, gethostbyname);
	return GETHOST_CALL(site, host, px_real.gethostbyname(host));
}

PX_WRAP struct hostent *gethostbyname2(const char *host, int family)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.gethostbyname2(host, family);
	site = PX_SITE(gethostbyname2, gethostbyname);
	return GETHOST_CALL(site, host, px_real.gethostbyname2(host, family));
}

PX_WRAP struct hostent *gethostbyaddr(const void *address, socklen_t length, int family)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.gethostbyaddr(address, length, family);
	site = PX_SITE(gethostbyaddr, gethostbyname);
	return GETHOST_CALL(site, NULL, px_real.gethostbyaddr(address, length, family));
}

/* Those with _r return 0 or an error number, and store h_errno in *error. */
#define GETHOST_R_CALL(site, host, real, found, error)                                             \
	({                                                                                         \
		struct px_hook_sample sample_ = px_hook_begin();                                   \
		int result_;                                                                       \
                                                                                                   \
		record(site, PX_RECORD_BEGINS, host, 0, 0);                                        \
		result_ = PX_REAL(&sample_, real);                                                 \
		record(site, PX_RECORD_ENDS, host, *(found) ? 0 : *(error), -result_);             \
		px_hook_end(&sample_, (site).wrapper);                                             \
		result_;                                                                           \
	})

PX_WRAP int gethostbyname_r(const char *host, struct hostent *entry, char *buffer, size_t size,
			    struct hostent **found, int *error)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.gethostbyname_r(host, entry, buffer, size, found, error);
	site = PX_SITE(gethostbyname_r, gethostbyname);
	return GETHOST_R_CALL(site, host,
			      px_real.gethostbyname_r(host, entry, buffer, size, found, error),
			      found, error);
}

PX_WRAP int gethostbyname2_r(const char *host, int family, struct hostent *entry, char *buffer,
			     size_t size, struct hostent **found, int *error)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.gethostbyname2_r(host, family, entry, buffer, size, found, error);
	site = PX_SITE(gethostbyname2_r, gethostbyname);
	return GETHOST_R_CALL(site, host,
			      px_real.gethostbyname2_r(host, family, entry, buffer, size, found,
						       error),
			      found, error);
}

PX_WRAP int gethostbyaddr_r(const void *address, socklen_t length, int family,
			    struct hostent *entry, char *buffer, size_t size,
			    struct hostent **found, int *error)
{
	struct px_site site;

	if (PX_NOT_TRACED(socket))
		return px_real.gethostbyaddr_r(address, length, family, entry, buffer, size, found,
					       error);
	site = PX_SITE(gethostbyaddr_r, gethostbyname);
	return GETHOST_R_CALL(site, NULL,
			      px_real.gethostbyaddr_r(address, length, family, entry, buffer, size,
						      found, error),
			      found, error);
}

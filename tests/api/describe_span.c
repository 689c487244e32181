/* SPDX-License-Identifier: MIT */
/* Descriptions of spans: they are where the descriptions of types are, and wrong ones are refused. */
#include "support/common.h"

#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "fields/fields.h"
#include "fields/span.h"

static void has_span(trace_id_t trid, trace_event_id_t type, const char *begin, const char *end, const char *field)
{
	char text[PX_FIELDS_TEXT_MAX];
	struct px_span span;
	size_t length = 0;

	ok(txtrace_get_type_description(trid, type, text, sizeof(text), &length));
	ck_assert(px_span_parse(text, length, &span));
	ck_assert_str_eq(span.begin, begin);
	ck_assert_str_eq(span.end, end);
	ck_assert_str_eq(span.field, field);
}

START_TEST(describe_span_is_in_stream_and_log)
{
	trace_event_id_t begin = px_test_open_type("say \"go\""), end = px_test_open_type("C:\\end"), price, lap;
	const struct px_test_stream wanted = {0};
	int fd = px_test_file();
	trace_id_t trid;

	ok(txtrace_describe_span("price", begin, end, "at[1].id"));
	trid = px_test_create_log(&wanted, fd);
	ok(posix_trace_start(trid));
	ok(txtrace_describe_span("lap", end, end, NULL));
	ok(txtrace_describe_span("lap", end, end, NULL));
	px_test_trace(begin, 1);
	price = px_test_open_type("price");
	lap = px_test_open_type("lap");
	has_span(trid, price, "say \"go\"", "C:\\end", "at[1].id");
	has_span(trid, lap, "C:\\end", "C:\\end", "");
	ok(posix_trace_shutdown(trid));
	trid = px_test_open(fd);
	has_span(trid, price, "say \"go\"", "C:\\end", "at[1].id");
	has_span(trid, lap, "C:\\end", "C:\\end", "");
	ok(posix_trace_close(trid));
	close(fd);
}
END_TEST

START_TEST(describe_span_wrong_is_refused)
{
	trace_event_id_t begin = px_test_open_type("begin"), end = px_test_open_type("end"), other;
	const char *const wrong[] = {"", "1", "a b", "a.", "a[", "a[x]", "a[1", ".a", "a..b", "a[1]b"};
	char name[] = "a name that is longer than sixty bytes, and so no type can have it";

	fails(txtrace_describe_span(NULL, begin, end, NULL), EINVAL);
	fails(txtrace_describe_span("", begin, end, NULL), EINVAL);
	fails(txtrace_describe_span("begin", begin, end, NULL), EINVAL);
	fails(txtrace_describe_span("end", begin, end, NULL), EINVAL);
	fails(txtrace_describe_span("work", begin + 1000, end, NULL), EINVAL);
	fails(txtrace_describe_span("work", begin, POSIX_TRACE_START, NULL), EINVAL);
	fails(txtrace_describe_span("work", POSIX_TRACE_UNNAMED_USEREVENT, end, NULL), EINVAL);
	fails(txtrace_describe_span(name, begin, end, NULL), ENAMETOOLONG);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		fails(txtrace_describe_span("work", begin, end, wrong[i]), EINVAL);
	ok(txtrace_describe_span("work", begin, end, "a.b[3].c"));
	fails(txtrace_describe_span("work", begin, end, NULL), EEXIST);
	other = px_test_open_type("described");
	ok(txtrace_describe_type(other, "u32 id"));
	fails(txtrace_describe_span("described", begin, end, NULL), EEXIST);
	/* Only this function describes spans. */
	fails(txtrace_describe_type(begin, "span \"begin\"..\"end\""), EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("describe_span");
	TCase *tcase = tcase_create("describe_span");

	tcase_add_test(tcase, describe_span_is_in_stream_and_log);
	tcase_add_test(tcase, describe_span_wrong_is_refused);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}

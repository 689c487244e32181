// SPDX-License-Identifier: MIT
// trace FILE: what <trace.hpp> says about structures is what the compiler does, and streams, logs and spans work.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <trace.hpp>

static int nr_checks, nr_failed;

static void check(bool is_true, const char *what)
{
	nr_checks++;
	if (is_true)
		return;
	nr_failed++;
	std::printf("FAIL: %s\n", what);
}

// Run a function that has to throw this error.
template <class F> static void throws(int error, F function, const char *what)
{
	try {
		function();
		check(false, what);
	} catch (const std::system_error &thrown) {
		check(thrown.code().value() == error, what);
	}
}

namespace shop {
enum class kind : short { low = -1, high = 9 };
struct part {
	char letter;
	long number;
};
struct order {
	unsigned char first;
	double load;
	std::array<std::array<short, 3>, 2> matrix;
	part parts[2];
	const char *where;
	kind what;
	char name[2][5];
	float real;
	bool is_fine;
	const std::uint64_t key;
	long double wide;
};
} // namespace shop
TXTRACE_STRUCT(shop::part, letter, number);
TXTRACE_STRUCT(shop::order, first, load, matrix, parts, where, what, name, real, is_fine, key, wide);

struct most {
	char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y;
	char aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn;
	int z;
};
TXTRACE_STRUCT(most, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y,
	       aa, bb, cc, dd, ee, ff, gg, hh, ii, jj, kk, ll, mm, nn, z);

struct turned {
	int first, second;
};
TXTRACE_STRUCT(turned, second, first);

struct one {
	int only;
};
TXTRACE_STRUCT(one, only);

struct large {
	std::uint64_t number[12];
};
TXTRACE_STRUCT(large, number);

class layout {
public:
	layout(const txtrace::reader &reader, trace_event_id_t type)
	{
		txtrace::check(txtrace_get_layout(reader.get(), type, &layout_), "txtrace_get_layout");
	}

	~layout()
	{
		txtrace_free_layout(layout_);
	}

	const txtrace_layout *operator->() const
	{
		return layout_;
	}

	bool is_at(const char *name, std::size_t offset, std::size_t size, int kind) const
	{
		for (unsigned i = 0; i < layout_->nr_fields; i++)
			if (std::string(layout_->field[i].name) == name)
				return layout_->field[i].bit == 8 * offset && layout_->field[i].size == size &&
				       layout_->field[i].kind == kind;
		return false;
	}

private:
	txtrace_layout *layout_ = nullptr;
};

static void check_layouts(const txtrace::reader &reader, trace_event_id_t of_order, trace_event_id_t of_most)
{
	const layout order(reader, of_order), most_members(reader, of_most);

#define AT(member, size, kind) \
	check(order.is_at(#member, offsetof(shop::order, member), size, TXTRACE_FIELD_##kind), "order." #member)
	check(order->size == sizeof(shop::order), "size of order");
	AT(first, 1, UNSIGNED);
	AT(load, 8, FLOAT);
	AT(matrix, 2, SIGNED);
	AT(parts, sizeof(shop::part), STRUCT);
	AT(where, sizeof(void *), POINTER);
	AT(what, 2, SIGNED);
	AT(name, 1, CHAR);
	AT(real, 4, FLOAT);
	AT(is_fine, 1, BOOL);
	AT(key, 8, UNSIGNED);
	AT(wide, sizeof(long double), FLOAT);
	check(order.is_at("number", offsetof(shop::part, number), sizeof(long), TXTRACE_FIELD_SIGNED), "part.number");
	check(order->field[2].dim[0] == 2 && order->field[2].dim[1] == 3, "dimensions of matrix");
	check(most_members->nr_fields == 40 && most_members->size == sizeof(most), "40 members");
	check(most_members.is_at("z", offsetof(most, z), sizeof(int), TXTRACE_FIELD_SIGNED), "the last member");
}

static void leave(const txtrace::span &span)
{
	const txtrace::scope scope(span);

	throw std::runtime_error("left");
}

static void check_log(const char *path)
{
	const txtrace::event_type<shop::order> order("order");
	const txtrace::event_type<most> many("many");
	const txtrace::event_type<one> single("single");
	const txtrace::event_type<int> number("number");
	const txtrace::event_type<> nothing("nothing");
	const txtrace::span left("left");
	const txtrace::keyed_span<> keyed("keyed");
	const shop::order sent{7, 0.5, {}, {{'a', 1}, {'b', -2}}, nullptr, shop::kind::high, {"abc", "d"},
			       2.5f, true, 99, 1.25L};
	int nr = 0, nr_ends = 0;

	{
		txtrace::stream stream(path, txtrace::attributes().name("cpp").stream_size(1 << 20)
						     .full_policy(POSIX_TRACE_FLUSH).log_policy(POSIX_TRACE_APPEND));

		check_layouts(stream, order.id(), many.id());
		stream.start();
		order(sent);
		single({3});
		number(-4);
		nothing();
		keyed.begin(5);
		keyed.end(5);
		try {
			leave(left);
		} catch (const std::runtime_error &) {
		}
		stream.stop();
		stream.flush();
		throws(EINVAL, [&] { stream.next(); }, "a stream with a log cannot be read");
	}
	txtrace::log log(path);
	check_layouts(log, order.id(), many.id());
	for (const txtrace::event &event : log) {
		nr++;
		nr_ends += log.name(event.facts.type) == "left end";
		if (event.facts.type == number.id())
			check(event.as<int>() == -4 && !event.as<long long>(), "a number");
		if (event.facts.type != order.id())
			continue;
		check(event.data.size() == sizeof(sent), "size of the data");
		const layout found(log, event.facts.type);
		check(std::memcmp(event.data.data() + offsetof(shop::order, load), &sent.load, sizeof(sent.load)) == 0,
		      "a member");
	}
	check(nr >= 8, "events");
	check(nr_ends == 1, "a scope that an exception leaves ends");
	check(!log.next(), "the end of the log");
	log.rewind();
	check(log.next().has_value() && log.loss().dropped == 0, "rewind");
}

static void check_stream()
{
	const txtrace::event_type<one> single("single");
	txtrace::stream stream(txtrace::attributes().stream_size(1 << 20));
	int sum = 0;

	check(!stream.next(), "an empty stream");
	stream.start();
	for (int i = 1; i <= 3000; i++)
		single({i});
	while (const auto event = stream.next())
		if (event->facts.type == single.id())
			sum += event->as<one>()->only;
	check(sum == 3000 * 3001 / 2, "all events of a stream");
	stream.shutdown();
	throws(EINVAL, [&] { stream.stop(); }, "a stream that was shut down");
}

// Read a log to its end; return how many events it has, and whether the end is the exception for a damaged file.
static int read_all(txtrace::log &log, bool &is_thrown)
{
	int nr = 0;

	is_thrown = false;
	try {
		for (const txtrace::event &event : log)
			nr += event.facts.type > 0;
	} catch (const std::system_error &thrown) {
		is_thrown = thrown.code().value() == EBADMSG;
	}
	return nr;
}

static void check_damage(const char *path)
{
	// So much data that they are in the middle of the file.
	const txtrace::event_type<large> type("large");
	large sent{};
	const std::string zeros(70000, '\0');
	bool is_thrown;
	int nr_all, nr;
	long size;

	{
		txtrace::stream stream(path, txtrace::attributes().stream_size(8 << 20)
						     .full_policy(POSIX_TRACE_FLUSH).log_policy(POSIX_TRACE_APPEND));

		stream.start();
		for (int i = 0; i < 20000; i++) {
			for (std::uint64_t &number : sent.number)
				number = number * 6364136223846793005u + 1442695040888963407u;
			type(sent);
		}
		stream.shutdown();
	}
	{
		txtrace::log log(path);

		nr_all = read_all(log, is_thrown);
		check(nr_all > 20000 && !is_thrown, "a whole log");
	}
	std::FILE *file = std::fopen(path, "r+");

	check(file && std::fseek(file, 0, SEEK_END) == 0 && (size = std::ftell(file)) > 400000 &&
		      std::fseek(file, size / 2, SEEK_SET) == 0 &&
		      std::fwrite(zeros.data(), zeros.size(), 1, file) == 1 && std::fclose(file) == 0,
	      "damage in the middle");
	{
		txtrace::log log(path);

		nr = read_all(log, is_thrown);
		check(is_thrown, "a damaged log is an exception at its end");
		check(nr > 0 && nr < nr_all && log.info().nr_missing == static_cast<unsigned>(nr_all - nr),
		      "the number of events that could not be read");
		log.rewind();
		check(read_all(log, is_thrown) == nr && is_thrown, "the same again");
	}
	{
		txtrace::log log(path, TXTRACE_OPEN_DAMAGED | TXTRACE_OPEN_RUNNING);

		check(read_all(log, is_thrown) == nr && !is_thrown, "a damaged log that may be damaged");
		check(log.info().nr_missing == static_cast<unsigned>(nr_all - nr), "the number, too");
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	try {
		check_log(argv[1]);
		check_damage(argv[1]);
		check_stream();
		throws(ENOENT, [] { txtrace::log opened("/nonexistent/log"); }, "a missing log");
		throws(EINVAL, [&] { txtrace::log opened(argv[0]); }, "a program is no log");
		throws(EINVAL, [] { txtrace::attributes().full_policy(77); }, "a wrong policy");
		throws(EEXIST, [] { txtrace::event_type<most>("single"); }, "another description");
		try {
			txtrace::event_type<turned>("turned");
			check(false, "members in another order");
		} catch (const std::invalid_argument &thrown) {
			check(std::string(thrown.what()) == "first", "the member that is in another order");
		}
	} catch (const std::exception &error) {
		std::printf("FAIL: %s\n", error.what());
		return 1;
	}
	std::printf("%d checks, %d failed\n", nr_checks, nr_failed);
	return nr_failed > 0;
}

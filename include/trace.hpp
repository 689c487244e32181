// SPDX-License-Identifier: MIT
//
// <trace.hpp>: posixtrace for C++17.  It consists of inline functions over <trace.h> and <trace_ext.h>; link with
// libposixtrace.  txtrace-cpp(7) has examples.
//
// A function that fails throws std::system_error with the error number.  Recording an event, and the ends of scopes and
// objects, never throw.  Recording is async-signal-safe; nothing else is.
//
#ifndef TXTRACE_TRACE_HPP
#define TXTRACE_TRACE_HPP

#if __cplusplus < 201703L
#error "<trace.hpp> needs C++17"
#endif

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <trace.h>
#include <trace_ext.h>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace txtrace {

/// Throw std::system_error if a function has returned an error number.
inline void check(int error, const char *what)
{
	if (error)
		throw std::system_error(error, std::generic_category(), what);
}

// Descriptions of structures.

/// TXTRACE_STRUCT() specializes this template: text() describes the members, as txtrace_describe_type() takes them.
template <class T> struct description {
	static constexpr bool is_known = false;
};

namespace detail {

template <class T> struct is_std_array : std::false_type {};
template <class T, std::size_t N> struct is_std_array<std::array<T, N>> : std::true_type {};

/// Describe one member: its type, its name, and its dimensions.
template <class T> std::string declare(const std::string &name)
{
	using type = std::remove_cv_t<T>;

	if constexpr (std::is_array_v<type>) {
		static_assert(std::extent_v<type> > 0, "an array without a size has no description");
		// The dimensions of the elements come after this one.
		return declare<std::remove_extent_t<type>>(name + "[" + std::to_string(std::extent_v<type>) + "]");
	} else if constexpr (is_std_array<type>::value) {
		static_assert(sizeof(type) == std::tuple_size_v<type> * sizeof(typename type::value_type));
		return declare<typename type::value_type>(name + "[" + std::to_string(std::tuple_size_v<type>) + "]");
	} else if constexpr (description<type>::is_known) {
		return "struct { " + description<type>::text() + "} " + name;
	} else if constexpr (std::is_same_v<type, bool>) {
		return "bool " + name;
	} else if constexpr (std::is_same_v<type, char>) {
		return "char " + name;
	} else if constexpr (std::is_enum_v<type>) {
		return declare<std::underlying_type_t<type>>(name);
	} else if constexpr (std::is_pointer_v<type>) {
		return "ptr " + name;
	} else if constexpr (std::is_same_v<type, long double>) {
		return "long_double " + name;
	} else {
		static_assert(std::is_arithmetic_v<type>, "a member needs a description: TXTRACE_STRUCT()");
		const char *kind = std::is_floating_point_v<type> ? "f" : std::is_signed_v<type> ? "i" : "u";
		return kind + std::to_string(sizeof(type) * 8) + " " + name;
	}
}

/// Append a member at this offset; `end` is the end of the member before.
template <class T> void append(std::string &text, std::size_t &end, std::size_t offset, const char *name)
{
	// The description would have this member at another place.
	if (offset < end)
		throw std::invalid_argument(name);
	if (offset > end)
		text += "pad " + std::to_string(offset - end) + "; ";
	text += declare<T>(name) + "; ";
	end = offset + sizeof(T);
}

inline void finish(std::string &text, std::size_t end, std::size_t size)
{
	if (size > end)
		text += "pad " + std::to_string(size - end) + "; ";
}

} // namespace detail

#define TXTRACE_DETAIL_MEMBER(type, member) \
	::txtrace::detail::append<decltype(type::member)>(text, end, offsetof(type, member), #member);
#define TXTRACE_DETAIL_EXPAND(...) \
	TXTRACE_DETAIL_EXPAND3(TXTRACE_DETAIL_EXPAND3(TXTRACE_DETAIL_EXPAND3(__VA_ARGS__)))
#define TXTRACE_DETAIL_EXPAND3(...) \
	TXTRACE_DETAIL_EXPAND2(TXTRACE_DETAIL_EXPAND2(TXTRACE_DETAIL_EXPAND2(__VA_ARGS__)))
#define TXTRACE_DETAIL_EXPAND2(...) \
	TXTRACE_DETAIL_EXPAND1(TXTRACE_DETAIL_EXPAND1(TXTRACE_DETAIL_EXPAND1(__VA_ARGS__)))
#define TXTRACE_DETAIL_EXPAND1(...) __VA_ARGS__
#define TXTRACE_DETAIL_END(...)
#define TXTRACE_DETAIL_AGAIN() TXTRACE_DETAIL_EACH
#define TXTRACE_DETAIL_NONE()
#define TXTRACE_DETAIL_LATER(id) id TXTRACE_DETAIL_NONE()
/// The list of members ends with an empty argument in parentheses, which no name of a member is.
#define TXTRACE_DETAIL_IS_END(...) TXTRACE_DETAIL_IS_END2(TXTRACE_DETAIL_PROBE __VA_ARGS__, 0, 0)
#define TXTRACE_DETAIL_IS_END2(...) TXTRACE_DETAIL_IS_END3(__VA_ARGS__)
#define TXTRACE_DETAIL_IS_END3(a, b, ...) b
#define TXTRACE_DETAIL_PROBE() 0, 1
#define TXTRACE_DETAIL_JOIN(a, b) TXTRACE_DETAIL_JOIN2(a, b)
#define TXTRACE_DETAIL_JOIN2(a, b) a##b
#define TXTRACE_DETAIL_EACH(type, member, ...) \
	TXTRACE_DETAIL_JOIN(TXTRACE_DETAIL_EACH_, TXTRACE_DETAIL_IS_END(member))(type, member, __VA_ARGS__)
#define TXTRACE_DETAIL_EACH_1(...)
#define TXTRACE_DETAIL_EACH_0(type, member, ...) \
	TXTRACE_DETAIL_MEMBER(type, member) \
	TXTRACE_DETAIL_LATER(TXTRACE_DETAIL_AGAIN)()(type, __VA_ARGS__)

/// Describe a structure by its members, at most 40 of them, in their order: TXTRACE_STRUCT(order, id, load, name).  Put
/// it into the global namespace, after the structure.  Members that are structures need descriptions of their own.  If
/// the order is another one, the constructor of the event type throws std::invalid_argument with the name of a member.
#define TXTRACE_STRUCT(type, ...) \
	template <> struct txtrace::description<type> { \
		static constexpr bool is_known = true; \
		static ::std::string text() \
		{ \
			static_assert(::std::is_standard_layout_v<type> && ::std::is_trivially_copyable_v<type>, \
				      "the data of events are copied as bytes"); \
			::std::string text; \
			::std::size_t end = 0; \
			TXTRACE_DETAIL_EXPAND(TXTRACE_DETAIL_EACH(type, __VA_ARGS__, (), )) \
			::txtrace::detail::finish(text, end, sizeof(type)); \
			return text; \
		} \
	}

// Event types.

/// An event type whose data are a T, a structure with TXTRACE_STRUCT(), or a number; event_type<> has no data.
template <class T = void> class event_type {
	static_assert(std::is_trivially_copyable_v<T>, "the data of events are copied as bytes");

public:
	explicit event_type(const char *name)
	{
		check(posix_trace_eventid_open(name, &id_), name);
		if constexpr (description<T>::is_known)
			check(txtrace_describe_type(id_, description<T>::text().c_str()), name);
		else
			check(txtrace_describe_type(id_, detail::declare<T>("value").c_str()), name);
	}

	/// Record an event.
	void operator()(const T &data) const noexcept
	{
		posix_trace_event(id_, &data, sizeof(data));
	}

	trace_event_id_t id() const noexcept
	{
		return id_;
	}

private:
	trace_event_id_t id_ = 0;
};

template <> class event_type<void> {
public:
	explicit event_type(const char *name)
	{
		check(posix_trace_eventid_open(name, &id_), name);
	}

	/// Record an event.
	void operator()() const noexcept
	{
		posix_trace_event(id_, nullptr, 0);
	}

	trace_event_id_t id() const noexcept
	{
		return id_;
	}

private:
	trace_event_id_t id_ = 0;
};

// Spans.

/// A span: the time of a scope of one thread.  Its events are "NAME begin" and "NAME end".
class span {
public:
	explicit span(const char *name)
		: begin_((std::string(name) + " begin").c_str()), end_((std::string(name) + " end").c_str())
	{
		check(txtrace_describe_span(name, begin_.id(), end_.id(), nullptr), name);
	}

	void begin() const noexcept
	{
		begin_();
	}

	void end() const noexcept
	{
		end_();
	}

private:
	event_type<> begin_, end_;
};

/// A span with a key, such as the number of an order: it may end in another thread.
template <class Key = std::uint64_t> class keyed_span {
	static_assert(std::is_integral_v<Key>, "the key is a number");

public:
	explicit keyed_span(const char *name)
		: begin_((std::string(name) + " begin").c_str()), end_((std::string(name) + " end").c_str())
	{
		check(txtrace_describe_span(name, begin_.id(), end_.id(), "value"), name);
	}

	void begin(Key key) const noexcept
	{
		begin_(key);
	}

	void end(Key key) const noexcept
	{
		end_(key);
	}

private:
	event_type<Key> begin_, end_;
};

/// Begin a span here, and end it at the end of the scope.  The span lives longer than the scope.
class scope {
public:
	[[nodiscard]] explicit scope(const span &of) noexcept : of_(of)
	{
		of_.begin();
	}

	~scope()
	{
		of_.end();
	}

	explicit scope(const span &&) = delete; // it would not live longer
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

private:
	const span &of_;
};

// Streams.

/// The attributes of a stream.  The functions return the object, so that they can be chained.
class attributes {
public:
	attributes()
	{
		check(posix_trace_attr_init(&attr_), "posix_trace_attr_init");
	}

	attributes &name(const char *name)
	{
		check(posix_trace_attr_setname(&attr_, name), "name");
		return *this;
	}

	attributes &stream_size(std::size_t bytes)
	{
		check(posix_trace_attr_setstreamsize(&attr_, bytes), "stream_size");
		return *this;
	}

	attributes &max_data_size(std::size_t bytes)
	{
		check(posix_trace_attr_setmaxdatasize(&attr_, bytes), "max_data_size");
		return *this;
	}

	/// POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or POSIX_TRACE_FLUSH.
	attributes &full_policy(int policy)
	{
		check(posix_trace_attr_setstreamfullpolicy(&attr_, policy), "full_policy");
		return *this;
	}

	/// POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL or POSIX_TRACE_APPEND.
	attributes &log_policy(int policy)
	{
		check(posix_trace_attr_setlogfullpolicy(&attr_, policy), "log_policy");
		return *this;
	}

	attributes &log_size(std::size_t bytes)
	{
		check(posix_trace_attr_setlogsize(&attr_, bytes), "log_size");
		return *this;
	}

	attributes &inherited(bool is_inherited = true)
	{
		check(posix_trace_attr_setinherited(&attr_, is_inherited ? POSIX_TRACE_INHERITED :
									    POSIX_TRACE_CLOSE_FOR_CHILD),
		      "inherited");
		return *this;
	}

	/// For the functions that this class does not have.
	trace_attr_t *get() noexcept
	{
		return &attr_;
	}

	const trace_attr_t *get() const noexcept
	{
		return &attr_;
	}

private:
	trace_attr_t attr_; // it owns no memory
};

namespace detail {

class descriptor {
public:
	descriptor(const char *path, int flags) : fd_(::open(path, flags | O_CLOEXEC, 0666))
	{
		if (fd_ < 0)
			throw std::system_error(errno, std::generic_category(), path);
	}

	~descriptor()
	{
		::close(fd_);
	}

	descriptor(const descriptor &) = delete;
	descriptor &operator=(const descriptor &) = delete;

	int get() const noexcept
	{
		return fd_;
	}

private:
	int fd_;
};

} // namespace detail

/// An event that was read, and its data.
struct event {
	txtrace_event facts{};
	std::vector<unsigned char> data;

	/// Return the data as a T, or nothing if they have another size.
	template <class T> std::optional<T> as() const
	{
		static_assert(std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>);
		std::optional<T> value;

		if (data.size() == sizeof(T))
			std::memcpy(&value.emplace(), data.data(), sizeof(T));
		return value;
	}
};

/// A stream of events, active or in a file.  Use stream or log.
class reader {
public:
	reader(const reader &) = delete;
	reader &operator=(const reader &) = delete;

	/// Return the next event, or nothing if there is none now; in a file: if there are no more.  A log throws
	/// std::system_error with EBADMSG instead of that if events could not be read.
	std::optional<event> next()
	{
		if (at_ == nr_) {
			std::size_t nr = 0;

			events_.resize(batch_events);
			data_.resize(batch_bytes);
			check(txtrace_getnext_events(id_, events_.data(), events_.size(), data_.data(), data_.size(),
						     &nr),
			      "txtrace_getnext_events");
			nr_ = nr;
			at_ = 0;
			if (nr == 0) {
				if (must_be_whole_)
					check_whole();
				return std::nullopt;
			}
		}
		const txtrace_event &facts = events_[at_++];
		return event{facts, {data_.data() + facts.offset, data_.data() + facts.offset + facts.length}};
	}

	/// Return the name of an event type.
	std::string name(trace_event_id_t type) const
	{
		char name[TRACE_EVENT_NAME_MAX + 1];

		check(posix_trace_eventid_get_name(id_, type, name), "posix_trace_eventid_get_name");
		return name;
	}

	txtrace_loss loss() const
	{
		txtrace_loss loss{};

		check(txtrace_get_loss(id_, &loss), "txtrace_get_loss");
		return loss;
	}

	/// For the functions that this class does not have.
	trace_id_t get() const noexcept
	{
		return id_;
	}

private:
	/// Call this when all is read.
	void check_whole() const
	{
		const auto nr = file_info().nr_missing;

		if (nr > 0)
			throw std::system_error(EBADMSG, std::generic_category(),
						std::to_string(nr) +
							" events could not be read: the file is damaged there");
	}

protected:
	txtrace_file_info file_info() const
	{
		txtrace_file_info info{};

		check(txtrace_get_file_info(id_, &info), "txtrace_get_file_info");
		return info;
	}

	reader() = default;
	~reader() = default;

	static constexpr std::size_t batch_events = 1024, batch_bytes = std::size_t(2) << 20;
	trace_id_t id_ = 0;
	bool is_open_ = false, must_be_whole_ = false;
	std::vector<txtrace_event> events_;
	std::vector<unsigned char> data_;
	std::size_t at_ = 0, nr_ = 0;
};

/// An active stream, of this process or of another one.  The end of the object shuts it down.
class stream : public reader {
public:
	explicit stream(const attributes &attr = attributes(), pid_t pid = 0)
	{
		check(posix_trace_create(pid, attr.get(), &id_), "posix_trace_create");
		is_open_ = true;
	}

	/// A stream with a log in this file, which is created or overwritten.
	explicit stream(const char *log, const attributes &attr = attributes(), pid_t pid = 0)
	{
		const detail::descriptor file(log, O_RDWR | O_CREAT | O_TRUNC);

		check(posix_trace_create_withlog(pid, attr.get(), file.get(), &id_), log);
		is_open_ = true;
	}

	~stream()
	{
		if (is_open_)
			posix_trace_shutdown(id_);
	}

	void start()
	{
		check(posix_trace_start(id_), "posix_trace_start");
	}

	void stop()
	{
		check(posix_trace_stop(id_), "posix_trace_stop");
	}

	void flush()
	{
		check(posix_trace_flush(id_), "posix_trace_flush");
	}

	/// End the stream now; an error of the log is an exception here, and not in the destructor.
	void shutdown()
	{
		is_open_ = false;
		check(posix_trace_shutdown(id_), "posix_trace_shutdown");
	}
};

/// A log or a trace buffer of ThreadX.
class log : public reader {
public:
	/// flags: 0, or a sum of TXTRACE_OPEN_RUNNING and TXTRACE_OPEN_DAMAGED.  With the latter, events that could not
	/// be read are no exception.  The same holds for those that the writer of a running log overwrites meanwhile.
	explicit log(const char *path, int flags = 0)
	{
		const detail::descriptor file(path, O_RDONLY);

		check(txtrace_open(file.get(), flags, &id_), path);
		is_open_ = true;
		must_be_whole_ = !(flags & TXTRACE_OPEN_DAMAGED) &&
				 !((flags & TXTRACE_OPEN_RUNNING) && file_info().running);
	}

	~log()
	{
		if (is_open_)
			posix_trace_close(id_);
	}

	/// Facts about the file.  nr_missing counts the events that could not be read, when all are read.
	txtrace_file_info info() const
	{
		return file_info();
	}

	/// The next event is the first one again.
	void rewind()
	{
		check(posix_trace_rewind(id_), "posix_trace_rewind");
		at_ = nr_ = 0;
	}

	/// for (const txtrace::event &event : log): the events that were not read yet.
	class iterator {
	public:
		explicit iterator(log *of) : of_(of)
		{
			++*this;
		}

		const event &operator*() const noexcept
		{
			return *event_;
		}

		const event *operator->() const noexcept
		{
			return &*event_;
		}

		iterator &operator++()
		{
			event_ = of_ ? of_->next() : std::nullopt;
			return *this;
		}

		/// Iterators differ while one of them has an event: for the end of a loop.
		bool operator!=(const iterator &other) const noexcept
		{
			return event_.has_value() || other.event_.has_value();
		}

	private:
		log *of_;
		std::optional<event> event_;
	};

	iterator begin()
	{
		return iterator(this);
	}

	iterator end()
	{
		return iterator(nullptr);
	}
};

} // namespace txtrace

#endif

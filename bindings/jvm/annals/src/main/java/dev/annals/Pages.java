package dev.annals;

import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Reads a result page by page while somebody asks for its items. */
final class Pages {
    /** Items of a page. */
    static final int SIZE = 256;

    /** Items of a page for which no limit is given. */
    static final int DEFAULT = 100;

    private Pages() {}

    /** One page of at most {@code limit} items behind a cursor. */
    @FunctionalInterface
    interface Read<T> {
        Page<T> page(int limit, Optional<String> after);
    }

    /** All items behind {@code after}, or the first {@code limit}. */
    static <T> Stream<T> stream(OptionalLong limit, Optional<String> after, Read<T> read) {
        Iterator<T> items = new Items<>(limit.orElse(Long.MAX_VALUE), after, read);
        int traits = Spliterator.ORDERED | Spliterator.NONNULL;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(items, traits), false);
    }

    private static final class Items<T> implements Iterator<T> {
        private final Read<T> read;
        private long left;
        private Optional<String> after;
        private Iterator<T> page = List.<T>of().iterator();
        private boolean isLast;

        Items(long left, Optional<String> after, Read<T> read) {
            this.left = left;
            this.after = after;
            this.read = read;
        }

        @Override
        public boolean hasNext() {
            while (!page.hasNext() && !isLast && left > 0) {
                Page<T> found = read.page((int) Math.min(left, SIZE), after);
                page = found.items().iterator();
                after = found.next();
                isLast = after.isEmpty();
            }
            return left > 0 && page.hasNext();
        }

        @Override
        public T next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            left--;
            return page.next();
        }
    }
}

// How an answer ends that its reader no longer wants, for the adapters that write a stream.

/** Whether the signal is one of `AbortSignal.timeout`. */
export function isTimeLimit({ reason }: AbortSignal): boolean {
  return (reason as { name?: unknown } | undefined)?.name === "TimeoutError";
}

/** The items as a stream that pulls as it is read; `gone` is aborted if its reader cancels it. */
export function readableOf<T>(items: AsyncGenerator<T, void, void>, gone: AbortController): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const { done, value } = await items.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        gone.abort(reason);
        await items.return(undefined).catch(() => {});
      },
    },
    { highWaterMark: 0 },
  );
}

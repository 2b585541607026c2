/**
 * Pieces of files are memory outside V8's heap, which V8 gives back when its heap is looked through or 64 MB have come
 * together: more than the rest of a process that copies files, beside a service that may have little. A process that
 * was started with `--expose-gc` asks for it sooner.
 */

/** Between two looks. Each takes some 3 ms of a small heap. */
const EVERY_BYTES = 4 * 1024 * 1024;

/** Told of the bytes that were read and are not needed any more. Does nothing where V8 was not asked to listen. */
export function spentMemory(): (bytes: number) => void {
  let spent = 0;
  return (bytes) => {
    spent += bytes;
    if (spent < EVERY_BYTES) return;
    spent = 0;
    globalThis.gc?.();
  };
}

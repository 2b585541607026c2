/** Reads single files of a stored package (contract 97, files of a release). */
import { PassThrough } from 'node:stream';
import { readPackage } from './archive.js';

/** Ends the reading of the archive once the file's bytes are read. */
class FileFound extends Error {}

/**
 * Reads the bytes of one file from `start` to `end` (exclusive), unpacking the package up to there.
 * @param source bytes of the package
 * @throws UnsafePackage, errors of `source`, and Error when the package lacks the file
 */
export async function* readPackagedFile(
  source: AsyncIterable<Uint8Array>,
  { platform, path, start, end }: { platform: string; path: string; start: number; end: number },
): AsyncGenerator<Uint8Array> {
  const out = new PassThrough();
  const onFile = async (entry: { path: string }, content: AsyncIterable<Uint8Array>): Promise<void> => {
    if (out.destroyed) throw new FileFound();
    if (entry.path !== path) return;
    let at = 0;
    for await (const piece of content) {
      const part = piece.subarray(Math.max(0, start - at), Math.max(0, end - at));
      at += piece.length;
      if (part.length > 0 && !out.write(Buffer.from(part))) await waitForDrain(out);
      if (at >= end || out.destroyed) break;
    }
    throw new FileFound();
  };
  const reading = readPackage(source, { platform, onFile }).then(
    () => out.destroy(new Error(`the package has no file ${path}`)),
    (error: unknown) => (error instanceof FileFound ? out.end() : out.destroy(error as Error)),
  );
  try {
    for await (const piece of out) yield piece as Buffer;
  } finally {
    out.destroy();
    await reading;
  }
}

/** Resolves when more can be written, or nothing any more. */
const waitForDrain = (out: PassThrough): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      out.off('drain', done).off('close', done);
      resolve();
    };
    if (out.destroyed) resolve();
    else out.on('drain', done).on('close', done);
  });

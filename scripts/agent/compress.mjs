/**
 * The compressed forms of executables, beside them, as many at once as there are cores, piece by piece; says on stderr
 * how far each is. Its own process: UV_THREADPOOL_SIZE, which bounds what is compressed at once, holds from a start on.
 *
 *   node scripts/agent/compress.mjs EXECUTABLE…
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

const PIECE = 1024 * 1024;
/** A line for each so many per cent. */
const STEP = 10;

const brotli = (size) =>
  createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
    },
  });
/** What takes longest is first. */
const FORMS = [
  { form: 'brotli', ending: '.br', through: brotli },
  { form: 'gzip', ending: '.gz', through: () => createGzip({ level: 9 }) },
];

/** Hands on what it gets, and says how much of it that was. */
async function* told(pieces, size, label) {
  let done = 0;
  let said = 0;
  for await (const piece of pieces) {
    yield piece;
    done += piece.length;
    const percent = Math.floor((done / size) * (100 / STEP)) * STEP;
    if (percent > said) process.stderr.write(`${label} ${percent} %\n`);
    said = percent;
  }
}

/** By a rename, so that a build that is cut off leaves no half file. */
async function compress(path, { form, ending, through }) {
  const { size } = await stat(path);
  const label = `${basename(path, '.exe').replace('update-agent-', '')}: ${form}`;
  const target = `${path}${ending}`;
  const source = createReadStream(path, { highWaterMark: PIECE });
  await pipeline(told(source, size, label), through(size), createWriteStream(`${target}.tmp`));
  await rename(`${target}.tmp`, target);
  const made = await stat(target);
  process.stdout.write(`${basename(target)}: ${(made.size / 1e6).toFixed(1)} MB\n`);
}

const waiting = FORMS.flatMap((form) => process.argv.slice(2).map((path) => [path, form]));
const work = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await compress(...next);
};
await Promise.all(Array.from({ length: availableParallelism() }, work));

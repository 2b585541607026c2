/**
 * Writes compressed forms of executables next to them, in parallel on all cores, and reports
 * progress on stderr. A separate process, because UV_THREADPOOL_SIZE only applies at its start.
 *
 * node scripts/agent/compress.mjs EXECUTABLE…
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';

const PIECE = 1024 * 1024;
const STEP = 10;

const compressBrotli = (size) =>
  createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: size,
    },
  });
const FORMS = [
  { form: 'brotli', ending: '.br', through: compressBrotli },
  { form: 'gzip', ending: '.gz', through: () => createGzip({ level: 9 }) },
];

async function* reportResult(pieces, size, label) {
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

/** Written by a rename, so that an interrupted build leaves no partial file. */
async function compress(path, { form, ending, through }) {
  const { size } = await stat(path);
  const label = `${basename(path, '.exe').replace('update-agent-', '')}: ${form}`;
  const target = `${path}${ending}`;
  const source = createReadStream(path, { highWaterMark: PIECE });
  await pipeline(reportResult(source, size, label), through(size), createWriteStream(`${target}.tmp`));
  await rename(`${target}.tmp`, target);
  const made = await stat(target);
  process.stdout.write(`${basename(target)}: ${(made.size / 1e6).toFixed(1)} MB\n`);
}

const waiting = FORMS.flatMap((form) => process.argv.slice(2).map((path) => [path, form]));
const runWorker = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await compress(...next);
};
await Promise.all(Array.from({ length: availableParallelism() }, runWorker));

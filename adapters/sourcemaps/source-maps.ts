import {
  SourceMapRejected,
  type BundledFile,
  type LocateRequest,
  type PackedUpload,
  type SourceMaps,
  type SourcePosition,
  type UploadedBytes,
} from '../../ports/source-map-reader.js';
import { UPLOAD_LIMITS } from './limits.js';
import { MapProcess, type MapProcessLimits } from './map-process.js';
import { FairScheduler } from './fair-scheduler.js';
import type { MapAnswer, MapJob } from './worker.js';
import { parseZipDirectory, ZIP_TAIL_BYTES } from './zip.js';

const PART_BYTES = 1024 * 1024;

type JobRunner = (job: MapJob) => Promise<MapAnswer>;

export class ChildProcessSourceMaps implements SourceMaps {
  readonly #process: MapProcess;
  readonly #turns: FairScheduler;

  constructor({ bounds, shareMs }: { bounds?: MapProcessLimits; shareMs?: number } = {}) {
    this.#process = new MapProcess(bounds);
    this.#turns = new FairScheduler(() => performance.now(), shareMs);
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  async unpack(owner: string, bundle: UploadedBytes): Promise<BundledFile[]> {
    const tail = await bundle.read(Math.max(0, bundle.size - ZIP_TAIL_BYTES), bundle.size);
    const directory = parseZipDirectory(Buffer.from(tail), bundle.size);
    const bytes = await bundle.read(directory.start, directory.start + directory.bytes);
    return this.#runTurn(owner, async (run) => {
      const found = await run({ kind: 'manifest', directory, bytes });
      if (!('manifest' in found)) throw new SourceMapRejected('is damaged');
      const { manifest: file } = found;
      const manifest = { file, bytes: await bundle.read(file.offset, file.offset + file.length) };
      const answer = await run({ kind: 'files', directory, bytes, manifest });
      return 'files' in answer ? answer.files : [];
    });
  }

  locate(question: LocateRequest): Promise<(SourcePosition | null)[]> {
    const { owner, id, positions } = question;
    return this.#runTurn(owner, async (run) => {
      let answer = await run({ kind: 'locate', id, positions });
      if ('wanted' in answer) {
        const { map, script: given } = await question.load();
        const fits = ({ file }: PackedUpload, most: number): boolean => file.size <= most && file.packed <= most;
        if (!fits(map, UPLOAD_LIMITS.map)) throw new SourceMapRejected(`is larger than ${UPLOAD_LIMITS.map} bytes`);
        const script = given !== null && fits(given, UPLOAD_LIMITS.script) ? given : null;
        await run({ kind: 'open', id, map: map.file, script: script?.file ?? null });
        await sendFile(run, 'map', map);
        if (script !== null) await sendFile(run, 'script', script);
        await run({ kind: 'load' });
        answer = await run({ kind: 'locate', id, positions });
      }
      return 'places' in answer ? answer.places : [];
    });
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  /**
   * Runs the jobs of one turn.
   * @throws MapRefused
   */
  #runTurn<T>(owner: string, work: (run: JobRunner) => Promise<T>): Promise<T> {
    return this.#turns.run(owner, (charge) =>
      work(async (job) => {
        try {
          const answer = await this.#process.run(job);
          charge(answer.usedMs);
          if ('refused' in answer) throw new SourceMapRejected(answer.refused, answer.lasting);
          return answer;
        } catch (error) {
          // An owner whose input ended the process is charged the maximum.
          if (error instanceof SourceMapRejected && !error.lasting) charge(UPLOAD_LIMITS.jobMs);
          throw error;
        }
      }),
    );
  }
}

/** Sends a file in parts, so that neither process holds a complete packed file. */
async function sendFile(run: JobRunner, of: 'map' | 'script', { file, bytes }: PackedUpload): Promise<void> {
  const end = file.offset + file.length;
  for (let at = file.offset; at < end; at += PART_BYTES)
    await run({ kind: 'part', of, bytes: await bytes.read(at, Math.min(end, at + PART_BYTES)) });
}

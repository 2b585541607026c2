import {
  MapRefused,
  type BundledFile,
  type MapQuestion,
  type PackedUpload,
  type SourceMaps,
  type SourcePosition,
  type UploadedBytes,
} from '../../ports/source-maps/reader.js';
import { LIMITS } from './limits.js';
import { MapProcess, type ProcessBounds } from './map-process.js';
import { OwnerTurns } from './owner-turns.js';
import type { MapAnswer, MapJob } from './worker.js';
import { directoryOf, TAIL } from './zip.js';

const PART = 1024 * 1024;

type Run = (job: MapJob) => Promise<MapAnswer>;

export class ChildProcessSourceMaps implements SourceMaps {
  readonly #process: MapProcess;
  readonly #turns: OwnerTurns;

  constructor({ bounds, shareMs }: { bounds?: ProcessBounds; shareMs?: number } = {}) {
    this.#process = new MapProcess(bounds);
    this.#turns = new OwnerTurns(() => performance.now(), shareMs);
  }

  get pid(): number | null {
    return this.#process.pid;
  }

  async unpack(owner: string, bundle: UploadedBytes): Promise<BundledFile[]> {
    const tail = await bundle.read(Math.max(0, bundle.size - TAIL), bundle.size);
    const directory = directoryOf(Buffer.from(tail), bundle.size);
    const bytes = await bundle.read(directory.start, directory.start + directory.bytes);
    return this.#take(owner, async (run) => {
      const found = await run({ kind: 'manifest', directory, bytes });
      if (!('manifest' in found)) throw new MapRefused('is damaged');
      const { manifest: file } = found;
      const manifest = { file, bytes: await bundle.read(file.offset, file.offset + file.length) };
      const answer = await run({ kind: 'files', directory, bytes, manifest });
      return 'files' in answer ? answer.files : [];
    });
  }

  locate(question: MapQuestion): Promise<(SourcePosition | null)[]> {
    const { owner, id, positions } = question;
    return this.#take(owner, async (run) => {
      let answer = await run({ kind: 'locate', id, positions });
      if ('wanted' in answer) {
        const { map, script: given } = await question.load();
        const fits = ({ file }: PackedUpload, most: number): boolean => file.size <= most && file.packed <= most;
        if (!fits(map, LIMITS.map)) throw new MapRefused(`is larger than ${LIMITS.map} bytes`);
        const script = given !== null && fits(given, LIMITS.script) ? given : null;
        await run({ kind: 'open', id, map: map.file, script: script?.file ?? null });
        await send(run, 'map', map);
        if (script !== null) await send(run, 'script', script);
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
  #take<T>(owner: string, work: (run: Run) => Promise<T>): Promise<T> {
    return this.#turns.take(owner, (charge) =>
      work(async (job) => {
        try {
          const answer = await this.#process.run(job);
          charge(answer.usedMs);
          if ('refused' in answer) throw new MapRefused(answer.refused, answer.lasting);
          return answer;
        } catch (error) {
          // An owner whose input ended the process is charged the maximum.
          if (error instanceof MapRefused && !error.lasting) charge(LIMITS.jobMs);
          throw error;
        }
      }),
    );
  }
}

/** Sends a file in parts, so that neither process holds a complete packed file. */
async function send(run: Run, of: 'map' | 'script', { file, bytes }: PackedUpload): Promise<void> {
  const end = file.offset + file.length;
  for (let at = file.offset; at < end; at += PART)
    await run({ kind: 'part', of, bytes: await bytes.read(at, Math.min(end, at + PART)) });
}

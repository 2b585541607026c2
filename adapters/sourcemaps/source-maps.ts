/** Source maps and artifact bundles, read in a thread (ports/source-maps/reader.ts). */
import {
  MapRefused,
  type BundledFile,
  type MapQuestion,
  type SourceMaps,
  type SourcePosition,
  type UploadedBytes,
} from '../../ports/source-maps/reader.js';
import { MapThread, type ThreadBounds } from './map-thread.js';
import { OwnerTurns } from './owner-turns.js';
import { directoryOf, TAIL } from './zip.js';

export class ThreadSourceMaps implements SourceMaps {
  readonly #thread: MapThread;
  readonly #turns: OwnerTurns;

  constructor({ bounds, shareMs }: { bounds?: ThreadBounds; shareMs?: number } = {}) {
    this.#thread = new MapThread(bounds);
    this.#turns = new OwnerTurns(() => performance.now(), shareMs);
  }

  async unpack(owner: string, bundle: UploadedBytes): Promise<BundledFile[]> {
    const tail = await bundle.read(Math.max(0, bundle.size - TAIL), bundle.size);
    const directory = directoryOf(Buffer.from(tail), bundle.size);
    const bytes = await bundle.read(directory.start, directory.start + directory.bytes);
    return this.#turns.take(owner, async () => {
      const found = await this.#thread.run({ kind: 'manifest', directory, bytes });
      if (!('manifest' in found)) throw new MapRefused('is damaged');
      const { manifest: file } = found;
      const manifest = { file, bytes: await bundle.read(file.offset, file.offset + file.length) };
      const answer = await this.#thread.run({ kind: 'files', directory, bytes, manifest });
      return 'files' in answer ? answer.files : [];
    });
  }

  locate(question: MapQuestion): Promise<(SourcePosition | null)[]> {
    const { owner, id, positions } = question;
    return this.#turns.take(owner, async () => {
      const known = await this.#thread.run({ kind: 'locate', id, positions, files: null });
      const answer =
        'wanted' in known
          ? await this.#thread.run({ kind: 'locate', id, positions, files: await question.load() })
          : known;
      return 'places' in answer ? answer.places : [];
    });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

import { ObjectId } from 'mongodb';
import { splitText } from '../../../lib/text/pieces.js';
import type { AccessFile, AccessFileStore, ChannelTexts } from '../../../ports/release-store.js';
import { CHUNK_BYTES, type Blobs } from './blobs.js';
import type { Kept, Slot } from './database.js';
import { pathOf, replacedIn, type Folders } from './folders.js';
import type { FileMarks } from './marks.js';

/** Three inline texts stay far below MongoDB's document limit of 16 MB. */
const INLINE_UNITS = 512 * 1024;
const PIECE_UNITS = 256 * 1024;

export class FolderTexts {
  constructor(
    private readonly blobs: Blobs,
    private readonly marks: FileMarks,
  ) {}

  /** The text as a folder keeps it. `settle` is called once the folder does. */
  async keep(text: string): Promise<{ kept: Kept; settle: () => Promise<void> }> {
    if (text.length <= INLINE_UNITS) {
      const kept = { tag: new ObjectId().toHexString(), size: Buffer.byteLength(text), at: new Date(), text };
      return { kept, settle: () => Promise.resolve() };
    }
    const file = await this.marks.begin();
    const size = await this.blobs.write(file, 'text', utf8(text));
    const kept = { tag: file.toHexString(), size, at: new Date(), file, chunk: CHUNK_BYTES };
    return { kept, settle: () => this.marks.settle(file) };
  }

  async read(kept: Kept | null | undefined): Promise<string | null> {
    if (kept === null || kept === undefined) return null;
    if (kept.file === undefined) return kept.text ?? '';
    const pieces: Uint8Array[] = [];
    for await (const piece of this.blobs.read(kept, { start: 0, end: kept.size })) pieces.push(piece);
    return Buffer.concat(pieces).toString('utf8');
  }
}

function* utf8(text: string): Generator<Uint8Array> {
  for (const piece of splitText(text, PIECE_UNITS)) yield Buffer.from(piece);
}

export interface TextParts {
  folders: Folders;
  texts: FolderTexts;
  marks: FileMarks;
}

async function write(
  { folders, texts, marks }: TextParts,
  [product, channel]: readonly [string, string | null],
  slot: Slot,
  text: string,
): Promise<void> {
  const path = channel === null ? pathOf(product) : pathOf(product, channel);
  const { kept, settle } = await texts.keep(text);
  if (channel !== null) await folders.product(product);
  const files = { [slot]: kept };
  const before = await folders.set(path, channel === null ? 'product' : 'channel', files);
  await settle();
  await marks.retire(replacedIn(before, files));
}

export class GridFsChannelTexts implements ChannelTexts {
  constructor(private readonly parts: TextParts) {}

  write(product: string, channel: string | null, text: string): Promise<void> {
    return write(this.parts, [product, channel], 'latest', text);
  }
}

const slotOf = (file: AccessFile): Slot => (file === '.htaccess' ? 'htaccess' : 'htpasswd');

export class GridFsAccessFiles implements AccessFileStore {
  constructor(private readonly parts: TextParts) {}

  async products(): Promise<string[]> {
    const names: string[] = [];
    for await (const { _id } of this.parts.folders.all('product')) names.push(_id);
    return names.toSorted();
  }

  async tag(product: string, file: AccessFile): Promise<string | null> {
    return (await this.parts.folders.look(pathOf(product), slotOf(file)))?.tag ?? null;
  }

  async read(product: string, file: AccessFile): Promise<string | null> {
    const { folders, texts } = this.parts;
    return texts.read(await folders.get(pathOf(product), slotOf(file)));
  }

  async write(product: string, file: AccessFile, text: string): Promise<boolean> {
    if ((await this.read(product, file)) === text) return false;
    await write(this.parts, [product, null], slotOf(file), text);
    return true;
  }
}

import { ObjectId } from 'mongodb';
import { splitText } from '../../../lib/text/split-text.js';
import type { AccessFile, AccessFileStore, ChannelTexts } from '../../../ports/release-store.js';
import { CHUNK_BYTES, type GridFsBlobs } from './blobs.js';
import type { FolderFile, FileSlot } from './database.js';
import { buildFolderPath, listReplacedFiles, type ReleaseFolders } from './folders.js';
import type { FileMarks } from './marks.js';

/** Three inline texts stay far below MongoDB's document limit of 16 MB. */
const MAX_INLINE_CHARACTERS = 512 * 1024;
const ENCODE_CHUNK_CHARACTERS = 256 * 1024;

export class FolderTexts {
  constructor(
    private readonly blobs: GridFsBlobs,
    private readonly marks: FileMarks,
  ) {}

  /** The text as a folder keeps it. */
  async save(text: string): Promise<{ kept: FolderFile; settle: () => Promise<void> }> {
    if (text.length <= MAX_INLINE_CHARACTERS) {
      const inlineFile = { tag: new ObjectId().toHexString(), size: Buffer.byteLength(text), at: new Date(), text };
      return { kept: inlineFile, settle: () => Promise.resolve() };
    }
    const file = await this.marks.createMark();
    const size = await this.blobs.write(file, 'text', encodeUtf8(text));
    const folderFile = { tag: file.toHexString(), size, at: new Date(), file, chunk: CHUNK_BYTES };
    return { kept: folderFile, settle: () => this.marks.removeMark(file) };
  }

  async read(folderFile: FolderFile | null | undefined): Promise<string | null> {
    if (folderFile === null || folderFile === undefined) return null;
    if (folderFile.file === undefined) return folderFile.text ?? '';
    const pieces: Uint8Array[] = [];
    for await (const piece of this.blobs.read(folderFile, { start: 0, end: folderFile.size })) pieces.push(piece);
    return Buffer.concat(pieces).toString('utf8');
  }
}

function* encodeUtf8(text: string): Generator<Uint8Array> {
  for (const piece of splitText(text, ENCODE_CHUNK_CHARACTERS)) yield Buffer.from(piece);
}

export interface FolderTextDependencies {
  folders: ReleaseFolders;
  texts: FolderTexts;
  marks: FileMarks;
}

async function writeFolderText(
  { folders, texts, marks }: FolderTextDependencies,
  [product, channel]: readonly [string, string | null],
  slot: FileSlot,
  text: string,
): Promise<void> {
  const path = channel === null ? buildFolderPath(product) : buildFolderPath(product, channel);
  const { kept: folderFile, settle } = await texts.save(text);
  if (channel !== null) await folders.createProduct(product);
  const files = { [slot]: folderFile };
  const before = await folders.set(path, channel === null ? 'product' : 'channel', files);
  await settle();
  await marks.retire(listReplacedFiles(before, files));
}

export class GridFsChannelTexts implements ChannelTexts {
  constructor(private readonly parts: FolderTextDependencies) {}

  write(product: string, channel: string | null, text: string): Promise<void> {
    return writeFolderText(this.parts, [product, channel], 'latest', text);
  }
}

const getAccessSlot = (file: AccessFile): FileSlot => (file === '.htaccess' ? 'htaccess' : 'htpasswd');

export class GridFsAccessFiles implements AccessFileStore {
  constructor(private readonly parts: FolderTextDependencies) {}

  async listProducts(): Promise<string[]> {
    const names: string[] = [];
    for await (const { _id } of this.parts.folders.iterateFolders('product')) names.push(_id);
    return names.toSorted();
  }

  async getTag(product: string, file: AccessFile): Promise<string | null> {
    return (await this.parts.folders.getMetadata(buildFolderPath(product), getAccessSlot(file)))?.tag ?? null;
  }

  async read(product: string, file: AccessFile): Promise<string | null> {
    const { folders, texts } = this.parts;
    return texts.read(await folders.get(buildFolderPath(product), getAccessSlot(file)));
  }

  async write(product: string, file: AccessFile, text: string): Promise<boolean> {
    if ((await this.read(product, file)) === text) return false;
    await writeFolderText(this.parts, [product, null], getAccessSlot(file), text);
    return true;
  }
}

/**
 * Downloads only the files of a release that changed, each by its hash in the signed manifest
 * (contract 97, files of a release). Everything else is copied from the installation.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ManifestFile } from '../../../lib/formats/manifest.js';
import type { FileCopy } from '../apply/staging.js';
import { ContentMismatch, deleteOtherDownloads, downloadFile, type DownloadContext } from '../net/download.js';
import { resolveServerPath } from '../options/address.js';
import { hashFile, statPath } from '../system/files.js';
import type { Installation } from './installation.js';
import type { FoundRelease } from './release-finder.js';
import { checkSpace } from './space.js';

const FOLDER = 'files';

/**
 * @param server address of the service
 * @returns the local file of each path; null where the whole package must be downloaded: without a
 *   previous manifest, with too many changed bytes, or when the server lacks a file
 */
export async function downloadChangedFiles(
  installation: Installation,
  server: URL,
  found: FoundRelease,
  downloader: DownloadContext,
): Promise<Map<string, FileCopy> | null> {
  const { agent, layout, manifest: previous } = installation;
  const { filesUrl } = found.offered;
  const { manifest } = found.release;
  if (filesUrl === null || previous === null) return null;
  const limit = (manifest.package.size * agent.options.maxDeltaPercent) / 100;
  const installed = groupByHash(previous.files);
  const byHash = groupByHash(manifest.files);
  // Compared before anything is hashed, because most bytes of a large update may have changed.
  if (sumBytes([...byHash].filter(([hash]) => !installed.has(hash))) > limit) return null;
  const local = await findLocalFiles(installation, byHash, installed);
  const wanted = [...byHash].filter(([hash]) => !local.has(hash));
  const bytes = sumBytes(wanted);
  if (bytes > limit) return null;
  const unpacked = manifest.files.reduce((sum, { size }) => sum + size, 0);
  await checkSpace(layout.root, bytes + unpacked, manifest.files.length + wanted.length);
  const { version } = manifest;
  agent.output.printNote(
    'downloading_files',
    { version, files: wanted.length, bytes },
    `downloading ${wanted.length} changed files of ${version}`,
  );
  const folder = join(layout.download, FOLDER);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await deleteOtherDownloads(layout.download, new Set([FOLDER]));
  await deleteOtherDownloads(folder, new Set(wanted.map(([hash]) => hash)));
  try {
    for (const [sha256, [first]] of wanted) {
      const url = resolveServerPath(server, `${filesUrl}/${sha256}`);
      local.set(sha256, await downloadFile(folder, { url, sha256, size: first?.size ?? 0 }, downloader));
    }
  } catch (error) {
    if (!(error instanceof ContentMismatch)) throw error;
    agent.output.printNote(
      'downloading_whole',
      { reason: error.message },
      `${error.message}; downloading the whole package`,
    );
    return null;
  }
  return new Map(
    manifest.files.map(({ path, size, mode, sha256 }) => [path, { from: local.get(sha256) ?? '', size, mode, sha256 }]),
  );
}

/** Removes nothing but the downloaded files. */
export const getChangedFilesFolder = ({ layout }: Installation): string => join(layout.download, FOLDER);

type FilesByHash = ReadonlyMap<string, readonly ManifestFile[]>;

function groupByHash(files: readonly ManifestFile[]): FilesByHash {
  const groups = new Map<string, ManifestFile[]>();
  for (const file of files) {
    const group = groups.get(file.sha256);
    if (group === undefined) groups.set(file.sha256, [file]);
    else group.push(file);
  }
  return groups;
}

const sumBytes = (groups: readonly (readonly [string, readonly ManifestFile[]])[]): number =>
  groups.reduce((sum, [, [first]]) => sum + (first?.size ?? 0), 0);

/** Finds installed files by their bytes, because a file may have been changed on this machine. */
async function findLocalFiles(
  { agent, layout }: Installation,
  wanted: FilesByHash,
  installed: FilesByHash,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const hash of wanted.keys())
    for (const { path, size } of installed.get(hash) ?? []) {
      const file = layout.resolvePath(path);
      const stats = await statPath(file);
      if (stats?.isFile() !== true || stats.size !== size) continue;
      if ((await hashFile(file, agent.signal)) !== hash) continue;
      found.set(hash, file);
      break;
    }
  return found;
}

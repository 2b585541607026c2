import type { DataTransfer, OwnCommand } from './composition.js';
import { EXIT_CODES } from './output.js';

const WITHOUT_RELEASES_OPTION = {
  type: 'boolean',
  summary: 'Exclude the release packages',
} as const;
const VERIFY_OPTION = {
  type: 'boolean',
  summary: 'Verify the file after writing; if it already exists, only verify it',
} as const;

const formatSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
const formatPackages = (n: number, releases: boolean): string =>
  releases ? formatCount(n, 'package') : 'no packages, because the archive excludes them';
const formatCount = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

/** An archive with missing packages is not reported as a success. */
const formatMissing = (missing: readonly string[]): string =>
  missing.length === 0
    ? ''
    : `INCOMPLETE: packages missing from the release store: ${missing.join(', ')}. Publish or withdraw them, and repeat. `;

async function verifyFile({ verifyArchive }: DataTransfer, path: string): Promise<{ json: object; text: string }> {
  const { head, entries, bytes } = await verifyArchive(path);
  const { kind, version, created_at, engine, releases } = head;
  return {
    json: { path, kind, version, created_at, engine, releases, entries, unpacked_bytes: bytes, verified: true },
    text: `${path} is complete: ${kind === 'backup' ? 'a backup' : 'an export'} by AOS ${version} of ${created_at}, ${formatCount(entries, 'entry').replace('entrys', 'entries')}, ${formatSize(bytes)} unpacked.`,
  };
}

export const backupCommand: OwnCommand = {
  name: 'backup',
  summary: 'Copy the embedded store, its keys and the packages into one file while the service runs',
  args: ['file'],
  options: { 'without-releases': WITHOUT_RELEASES_OPTION, verify: VERIFY_OPTION },
  run: async ({ args, options }, composition) => {
    const transfer = await composition.loadDataTransfer();
    const [file = ''] = args;
    const verifies = options['verify'] === true;
    if (verifies && (await transfer.fileExists(file))) return verifyFile(transfer, file);
    const { path, bytes, entries, missing } = await transfer.backUpTo(file, {
      releases: options['without-releases'] !== true,
    });
    if (verifies) await transfer.verifyArchive(path, 'backup');
    return {
      json: { path, bytes, entries: entries.length, verified: verifies, missing_packages: missing },
      ...(missing.length > 0 && { exit: EXIT_CODES.error }),
      text: `${formatMissing(missing)}Wrote ${path}, ${formatSize(bytes)}${verifies ? ', and verified it' : ''}. It contains secrets: store it on another disk where no one else can read it.`,
    };
  },
};

export const restoreCommand: OwnCommand = {
  name: 'restore',
  summary: 'Restore a backup into an empty data directory; the service must not be running',
  args: ['file'],
  run: async ({ args: [file = ''] }, composition) => {
    const { restoreFrom } = await composition.loadDataTransfer();
    const { head, keys, packages, finished } = await restoreFrom(file);
    const { version, created_at, releases } = head;
    const restored = finished ? 'Finished the interrupted restore: restored' : 'Restored';
    return {
      json: { path: file, version, created_at, keys, packages, releases },
      text: `${restored} the store of ${created_at} (AOS ${version}) with ${formatCount(keys.length, 'key')} and ${formatPackages(packages, releases)}. Start the service.`,
    };
  },
};

export const exportCommand: OwnCommand = {
  name: 'export',
  summary: 'Export all documents and packages into one file that every engine can import; keys are not exported',
  args: ['file'],
  options: { 'without-releases': WITHOUT_RELEASES_OPTION },
  run: async ({ args: [file = ''], options }, composition) => {
    const { exportTo } = await composition.loadDataTransfer();
    const { path, bytes, contents, missing } = await exportTo(file, { releases: options['without-releases'] !== true });
    const { documents, sha256, collections } = contents;
    return {
      json: { path, bytes, documents, sha256, collections, missing_packages: missing },
      ...(missing.length > 0 && { exit: EXIT_CODES.error }),
      text: `${formatMissing(missing)}Wrote ${path}, ${formatSize(bytes)}, ${formatCount(documents, 'document')}. Contents: ${sha256}`,
    };
  },
};

export const importCommand: OwnCommand = {
  name: 'import',
  summary: 'Import an export into an empty store; requires the keys of the service it comes from',
  args: ['file'],
  run: async ({ args: [file = ''] }, composition) => {
    const { importFrom } = await composition.loadDataTransfer();
    const { head, documents, packages, sha256 } = await importFrom(file);
    const { version, created_at, releases } = head;
    return {
      json: { path: file, version, created_at, documents, packages, sha256, releases },
      text: `Imported ${formatCount(documents, 'document')} and ${formatPackages(packages, releases)} from the export of ${created_at} (AOS ${version}). Contents: ${sha256}`,
    };
  },
};

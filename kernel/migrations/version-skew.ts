/**
 * Decides which versions of the service may share a store (contract 95, a bad day): adjacent minor
 * versions, as in a rolling upgrade.
 */
import type { MigrationState } from '../../ports/domain/system.js';

/** A version too far ahead migrated the store. */
export class StoreTooNew extends Error {
  override name = 'StoreTooNew';
}

/** Whether a later minor version applied the migration. */
export function isLater({ version }: Pick<MigrationState, 'version'>, own: string): boolean {
  return version !== null && countMinorsAhead(version, own) > 0;
}

/**
 * @param known whether this version has the migration, or a replacement
 * @throws StoreTooNew
 */
export function assertNotTooNew(records: readonly MigrationState[], known: (id: string) => boolean, own: string): void {
  for (const { id, version } of records) {
    if (version === null || known(id) || countMinorsAhead(version, own) <= 1) continue;
    throw new StoreTooNew(
      `the store has the migration ${id} of version ${version}, which is unknown to this version, ${own}: ` +
        `start version ${version}, or restore the backup created before it`,
    );
  }
}

/** Infinity for another major version. */
function countMinorsAhead(version: string, own: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [ownMajor = 0, ownMinor = 0] = own.split('.').map(Number);
  return major === ownMajor ? minor - ownMinor : (major - ownMajor) * Infinity;
}

/**
 * Decides which versions of the service may share a store (contract 95, a bad day): adjacent minor
 * versions, as in a rolling upgrade. Migrations are additive, so a version can serve a store that
 * the next minor version has migrated.
 */
import type { MigrationState } from '../../ports/domain/system.js';

/** A version too far ahead applied a migration that this version does not have. */
export class StoreTooNew extends Error {
  override name = 'StoreTooNew';
}

/**
 * Whether a later minor version applied the migration. Patch versions make no difference; older
 * records have no version.
 */
export function isLater({ version }: Pick<MigrationState, 'version'>, own: string): boolean {
  return version !== null && countMinorsAhead(version, own) > 0;
}

/**
 * @param records migrations recorded in the store
 * @param known whether this version has the migration, or a replacement
 * @throws StoreTooNew
 */
export function assertNotTooNew(records: readonly MigrationState[], known: (id: string) => boolean, own: string): void {
  for (const { id, version } of records) {
    if (version === null || known(id) || countMinorsAhead(version, own) <= 1) continue;
    throw new StoreTooNew(
      `the store has the migration ${id} of version ${version}, which this version, ${own}, does not know: ` +
        `start version ${version}, or restore the copy that was made before it`,
    );
  }
}

/**
 * Returns 0 for the same minor version, 1 for the next, Infinity for another major version;
 * negative for earlier ones.
 */
function countMinorsAhead(version: string, own: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [ownMajor = 0, ownMinor = 0] = own.split('.').map(Number);
  return major === ownMajor ? minor - ownMinor : (major - ownMajor) * Infinity;
}

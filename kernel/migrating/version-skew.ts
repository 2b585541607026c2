/**
 * Which versions of the service may use one store together (contract 95, a bad day): those whose minor versions are
 * neighbours, as they meet while an upgrade rolls over several processes. A migration is additive, so a version serves
 * a store that the next minor version has migrated; of anything later it knows nothing.
 */
import type { MigrationState } from '../../ports/domain/system.js';

/** A migration that this version does not know was applied by one too far ahead. */
export class StoreTooNew extends Error {
  override name = 'StoreTooNew';
}

/**
 * Applied by a later minor version. Its patches make no difference, and of an older record nobody knows the version.
 */
export function isLater({ version }: Pick<MigrationState, 'version'>, own: string): boolean {
  return version !== null && countMinorsAhead(version, own) > 0;
}

/**
 * @param records what is recorded in the store
 * @param known whether this version has the migration, or one that took its place
 * @throws StoreTooNew
 */
export function refuseTooNew(records: readonly MigrationState[], known: (id: string) => boolean, own: string): void {
  for (const { id, version } of records) {
    if (version === null || known(id) || countMinorsAhead(version, own) <= 1) continue;
    throw new StoreTooNew(
      `the store has the migration ${id} of version ${version}, which this version, ${own}, does not know: ` +
        `start version ${version}, or restore the copy that was made before it`,
    );
  }
}

/** 0: the same; 1: the next; Infinity: another major version. Negative: earlier. */
function countMinorsAhead(version: string, own: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [ownMajor = 0, ownMinor = 0] = own.split('.').map(Number);
  return major === ownMajor ? minor - ownMinor : (major - ownMajor) * Infinity;
}

import { refusals, type ErrorCatalog } from '../../kernel/contract/index.js';

export const RELEASE_ERRORS = {
  publish_in_progress: [409, 'The same release is being published by another call.', 'It is being published already'],
  checksum_mismatch: [422, 'The package’s SHA-256 is not the announced one.', 'The package has changed on its way'],
  package_rejected: [422, 'The archive breaks a rule; the message names the entry.', 'The package breaks a rule'],
} as const satisfies ErrorCatalog;

export const createReleaseError = refusals(RELEASE_ERRORS);

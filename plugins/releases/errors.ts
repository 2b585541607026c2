import { refusals, type ErrorCatalog } from '../../kernel/contract/index.js';

export const RELEASE_ERRORS = {
  publish_in_progress: [
    409,
    'The same release is being published by another request.',
    'It is already being published',
  ],
  checksum_mismatch: [
    422,
    'The SHA-256 of the package does not match the announced one.',
    'The package changed in transit',
  ],
  package_rejected: [
    422,
    'The archive violates a rule; the message contains the entry.',
    'The package violates a rule',
  ],
} as const satisfies ErrorCatalog;

export const createReleaseError = refusals(RELEASE_ERRORS);

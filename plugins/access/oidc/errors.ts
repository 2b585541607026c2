import { refusals, type ErrorCatalog } from '../../../kernel/errors.js';

export const OIDC_ERRORS = {
  sign_in_failed: [
    400,
    'A sign-in with the provider could not be completed: it expired, began in another browser, or its answer could not be verified. Start again.',
    'Sign-in failed',
  ],
  sign_in_denied: [
    403,
    'The provider knows the user, but this service does not let them in: no role, a disabled account, or a domain that is not allowed.',
    'Sign-in denied',
  ],
  provider_unavailable: [503, 'The sign-in provider does not answer. Try again later.', 'Provider unavailable'],
} as const satisfies ErrorCatalog;

export const refuseSignIn = refusals(OIDC_ERRORS);

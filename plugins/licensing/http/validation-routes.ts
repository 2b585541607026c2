/** Routes for applications, without the envelope (contracts 00 and 50). */
import { createHash } from 'node:crypto';
import { Reply, text, type RouteSpec } from '../../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { toActivationView } from '../model/view.js';
import type { LicenseStatus } from '../../../lib/formats/license-status.js';
import { FLOATING_FILE_MESSAGE, STATUS_MESSAGES } from '../validation/license-status.js';
import type {
  DeactivationRequest,
  MachineDetails,
  LicenseValidator,
  ValidationRequest,
} from '../validation/license-validator.js';
import {
  deactivateBody,
  fileBody,
  validateBody,
  keylessQuery,
  releaseBody,
  emptyQuery,
  validateQuery,
} from '../validation/request-schemas.js';
import type { FloatingSeatService } from '../seats/floating-seats.js';
import type { LicensingServices } from '../services.js';
import type { LicenseSigningService } from '../validation/license-signer.js';
import { deactivateAnswer, pubkeyAnswer, pubkeyQuery, releaseAnswer, validateAnswer } from './schemas.js';

const BASE_PATH = '/api/license/v1';

const toUncachedReply = (status: number, body: object): Reply =>
  new Reply(status, body).header('cache-control', 'no-store');
const createMissingKeyError = (): ServiceError =>
  new ServiceError('invalid_request', 'The request must contain exactly one license key.', {
    fields: { key_sha256: 'send either this or the header X-License-Key' },
  });
const createStateReply = (status: number, state: LicenseStatus): Reply =>
  toUncachedReply(status, { status: state, message: STATUS_MESSAGES[state] });

/** With a valid key, other requests from the same address do not limit it. */
const VALIDATION_LIMITS: NonNullable<RouteSpec['limits']> = {
  bucket: 'validate',
  proves: ({ method, body, query }, answer) => {
    const state = answer instanceof Reply && typeof answer.body === 'object' ? answer.body : null;
    if (state !== null && 'status' in state && state.status === 'invalid') return null;
    const { license_key } = (method === 'POST' ? body : query) as ValidationRequest;
    return `license ${createHash('sha256').update(license_key).digest('base64')}`;
  },
};

type ValidationServices = Pick<LicensingServices, 'online' | 'seats' | 'signing'>;

export const validationRoutes = ({ online, seats, signing }: ValidationServices): RouteSpec[] => [
  ...validateRoutes(online),
  releaseRoute(seats),
  deactivateRoute(online),
  licenseFileRoute(online),
  publicKeyRoute(signing),
];

function releaseRoute(seats: FloatingSeatService): RouteSpec {
  return {
    method: 'POST',
    path: `${BASE_PATH}/validate/release`,
    operationId: 'releaseLease',
    summary: 'Release a floating seat',
    description:
      'For the `lease.id` returned by validate; the id is the only credential. A repeat returns the same response for a day.',
    access: 'public',
    limits: { bucket: 'validate', proves: ({ body }) => `lease ${(body as { lease_id: string }).lease_id}` },
    input: { query: emptyQuery, body: releaseBody },
    output: releaseAnswer,
    errors: ['not_found'],
    handle: async ({ body }) => {
      const { lease_id } = body as { lease_id: string };
      if ((await seats.release(lease_id)) === null) throw notFound(`lease ${lease_id}`);
      return new Reply(200, { released: true, lease_id }).header('cache-control', 'no-store');
    },
  };
}

function validateRoutes(online: LicenseValidator): RouteSpec[] {
  const shared = {
    path: `${BASE_PATH}/validate`,
    access: 'public',
    limits: VALIDATION_LIMITS,
    bare: true,
    output: validateAnswer,
  } as const;
  return [
    {
      ...shared,
      method: 'POST',
      operationId: 'validateLicense',
      summary: 'Validate a license, and assign a seat to the machine',
      description:
        'Always 200 for a valid request. The first matching state is returned: invalid, revoked, inactive, pending, product_mismatch, expired (or `grace`, which is valid, within `grace_days`), then the state of the machine. A new machine takes a seat; the same machine never takes a second one. Over the limit it waits for an approval (`machine_pending`) if the license requires one, else it is `machine_limit`. With a floating license the machine takes a seat for `lease_seconds`, or renews its `lease`; without a free seat it is `no_seat_free`. Without `machine_id` no seat is checked or taken.',
      input: { query: keylessQuery, body: validateBody },
      strictQuery: false,
      handle: async ({ body, warnings }) => {
        const { license_key, ...question } = body as ValidationRequest;
        return toUncachedReply(200, await online.validate(license_key, question, { takesSeat: true, warnings }));
      },
    },
    {
      ...shared,
      method: 'GET',
      operationId: 'lookAtLicense',
      summary: 'Validate a license without taking a seat',
      description:
        'Send the key in the header `X-License-Key`, or its `key_sha256` in the query. A complete key in the query is rejected, because URLs are logged.',
      input: { query: validateQuery, headers: { 'X-License-Key': 'The license key, in any spelling' } },
      handle: async ({ query, headers, warnings }) => {
        const { key_sha256, ...question } = query as unknown as MachineDetails & { key_sha256?: string };
        const license_key = headers['x-license-key'];
        if ((license_key === undefined) === (key_sha256 === undefined)) throw createMissingKeyError();
        return toUncachedReply(
          200,
          await online.validate(license_key ?? { sha256: (key_sha256 ?? '').toLowerCase() }, question, {
            takesSeat: false,
            warnings,
          }),
        );
      },
    },
  ];
}

function deactivateRoute(online: LicenseValidator): RouteSpec {
  return {
    method: 'POST',
    path: `${BASE_PATH}/deactivate`,
    operationId: 'deactivateByKey',
    summary: 'Release a machine, or deactivate the license',
    description:
      'With `machine_id` that machine is released; `released` is false, with a `reason`, for an `unknown_machine`, a `blocked` one, and one whose seat a `.lic` reserves (`file_until`). Without it the license becomes inactive, with `permanent` revoked. A repeat returns the same response. 404 `invalid` for an unknown key; 409 `product_mismatch`, `invalid_transition` (pending).',
    access: { sharedKey: true },
    bare: true,
    input: { query: emptyQuery, body: deactivateBody },
    output: deactivateAnswer,
    errors: ['not_found', 'invalid_transition'],
    handle: async ({ principal, body }) => {
      const done = await online.deactivate(principal, body as DeactivationRequest);
      if (done === null) return createStateReply(404, 'invalid');
      if ('refused' in done) {
        const message =
          done.refused === 'product_mismatch'
            ? STATUS_MESSAGES.product_mismatch
            : 'The license is pending: approve or reject it first.';
        return toUncachedReply(409, { status: done.refused, message });
      }
      const { activation } = done;
      return toUncachedReply(200, { ...done, activation: activation === null ? null : toActivationView(activation) });
    },
  };
}

function licenseFileRoute(online: LicenseValidator): RouteSpec {
  return {
    method: 'POST',
    path: `${BASE_PATH}/file`,
    operationId: 'issueLicenseFile',
    summary: 'Create a license file for an offline machine',
    description:
      'Validates and takes a seat as validate does; the seat is reserved until the file expires. Returns the text of the `.lic`. 404 `invalid` for an unknown key; 409 with the state of a license or machine that is not active, `floating` for a floating license.',
    access: 'public',
    limits: VALIDATION_LIMITS,
    bare: true,
    input: { query: emptyQuery, body: fileBody },
    errors: ['not_found', 'conflict'],
    handle: async ({ body }) => {
      const done = await online.issueRequestedFile(body as ValidationRequest & { valid_days?: number });
      if ('status' in done) {
        const { status } = done;
        if (status === 'floating') return toUncachedReply(409, { status, message: FLOATING_FILE_MESSAGE });
        return createStateReply(status === 'invalid' ? 404 : 409, status);
      }
      const { product } = body as ValidationRequest;
      return text(done.text)
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="${product}.lic"`);
    },
  };
}

function publicKeyRoute(signing: LicenseSigningService): RouteSpec {
  return {
    method: 'GET',
    path: `${BASE_PATH}/pubkey`,
    operationId: 'licensePublicKey',
    summary: 'Get the key that verifies responses and license files',
    description:
      'Earlier keys follow, newest first, so that their files still verify and a pinned key leads to the next.',
    access: 'public',
    bare: true,
    input: { query: pubkeyQuery },
    output: pubkeyAnswer,
    handle: async ({ query }) =>
      query['format'] === 'pem'
        ? text((await signing.getKey()).public_key, 'application/x-pem-file')
        : signing.getPublicKeys(),
  };
}

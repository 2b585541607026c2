/**
 * Webhook routes of forges, and the route that creates a project's secret (contract 20, forges).
 */
import joi from 'joi';
import { created, withSchemaName, whole, type HttpRequest, type RouteSpec } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import type { Clock } from '../../ports/clock.js';
import { listForgeAddresses } from './addresses.js';
import type { LinkResult, ChangeLinker } from './linking.js';
import type { DeliveredChange } from './payloads/change.js';
import { parseGithubChanges } from './payloads/github.js';
import { parseGitlabChanges } from './payloads/gitlab.js';
import { toPayloadFields, type ForgePayload } from './payloads/fields.js';
import type { ForgeSecretService } from './secrets.js';
import { FORGES, isGenuine, type Forge } from './verification.js';

/** Enough for a push of hundreds of commits. */
const MAX_BODY_BYTES = 1_048_576;
/** Verified in place of a missing secret, so that the response takes as long. */
const DUMMY_SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';

const slug = joi
  .string()
  .pattern(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'slug')
  .required();
const refs = joi.array().items(joi.string());

const deliverySchema = withSchemaName(
  'ForgeDelivery',
  whole({
    resolved: refs.description('Resolved by this delivery'),
    commented: refs.description('Fixed by it, but held by an agent: a comment was added to the item'),
    linked: refs.description('Named by it'),
    unchanged: refs.description('Already processed, or not an item of this project'),
    left_out: joi.number().integer().description('References beyond the limit of 50 per delivery'),
  }).keys({ reopened: refs.description('Were waiting for a pull request that was closed without a merge') }),
);

const CHANGE_PARSERS: Readonly<
  Record<Forge, (headers: HttpRequest['headers'], body: ForgePayload) => DeliveredChange[]>
> = {
  github: (headers, body) => parseGithubChanges(headers['x-github-event'] ?? '', body),
  gitea: (headers, body) => parseGithubChanges(headers['x-gitea-event'] ?? '', body),
  gitlab: (_headers, body) => parseGitlabChanges(body),
};

export interface ForgeRouteDependencies {
  secrets: ForgeSecretService;
  linking: ChangeLinker;
  clock: Clock;
  baseUrl: () => string;
}

export const buildForgeRoutes = (parts: ForgeRouteDependencies): RouteSpec[] => [
  buildDeliveryRoute(parts),
  buildSecretRoute(parts),
];

const buildDeliveryRoute = ({ secrets, linking, clock }: ForgeRouteDependencies): RouteSpec => ({
  method: 'POST',
  path: '/api/bugtracker/v1/forges/{forge}/{project}',
  strictQuery: false,
  operationId: 'takeForgeDelivery',
  tag: 'bugtracker',
  summary: 'Receive a webhook from GitHub, GitLab or Gitea',
  description:
    'Pushes and pull or merge requests, as sent by the forge, as JSON of at most 1 MiB. It is authenticated by its signature ' +
    '(`X-Hub-Signature-256`, `X-Gitea-Signature`, `webhook-signature`) or token (`X-Gitlab-Token`) with the project’s ' +
    '`forge_secret`; otherwise 401. Items that a commit or a pull request mentions (`shop-17`) are linked to it, and those that it ' +
    '`fixes`, `closes` or `resolves` are resolved once it is on the default branch. A repeat changes nothing.',
  access: 'public',
  input: {
    params: joi.object({
      forge: joi
        .string()
        .valid(...FORGES)
        .required(),
      project: slug,
    }),
    mediaType: 'application/json',
    headers: {
      'X-GitHub-Event': 'Event of GitHub: `push` or `pull_request`; others are ignored',
      'X-Hub-Signature-256': 'GitHub: `sha256=` and the HMAC-SHA256 of the body in hex',
      'X-Gitlab-Token': 'GitLab: the secret itself',
      'Webhook-Signature': 'GitLab with a signing token: `v1,` and the signature in base64 (Standard Webhooks)',
      'X-Gitea-Event': 'Event of Gitea and Forgejo',
      'X-Gitea-Signature': 'Gitea and Forgejo: the HMAC-SHA256 of the body in hex',
    },
  },
  output: deliverySchema,
  errors: ['unauthorized', 'invalid_json'],
  limits: {
    bytes: MAX_BODY_BYTES,
    payload: 'raw',
    proves: ({ params: { project = '' } }) => `forge ${project}`,
  },
  handle: async ({ params: { forge, project = '' }, headers, body }): Promise<LinkResult> => {
    const bytes = body as Buffer;
    const secret = await secrets.openSecret(project);
    const genuine = isGenuine(forge as Forge, {
      headers,
      body: bytes,
      secret: secret ?? DUMMY_SECRET,
      now: clock.now(),
    });
    if (secret === null || !genuine)
      throw new ServiceError('unauthorized', 'The delivery is not signed with this project’s webhook secret.');
    return linking.apply(project, CHANGE_PARSERS[forge as Forge](headers, parseBody(bytes)));
  },
});

/** @throws ServiceError invalid_json */
function parseBody(bytes: Buffer): ForgePayload {
  try {
    return toPayloadFields(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    throw new ServiceError(
      'invalid_json',
      'The body is not JSON. Set the webhook’s content type to application/json.',
      {
        cause: error,
      },
    );
  }
}

const buildSecretRoute = ({ secrets, baseUrl }: ForgeRouteDependencies): RouteSpec => ({
  method: 'POST',
  path: '/api/projects/v1/projects/{slug}/forge-secret',
  operationId: 'makeForgeSecret',
  tag: 'projects',
  summary: 'Create the secret with which a forge signs its webhooks; it is shown once',
  description:
    'A previous secret becomes invalid. The token also requires `bugtracker:manage`, because the secret allows resolving items.',
  access: { scope: 'projects:manage' },
  input: { params: joi.object({ slug }), body: joi.object({}), optionalBody: true },
  status: 201,
  output: withSchemaName(
    'ForgeSecret',
    whole({
      forge_secret: joi.string(),
      addresses: whole({ github: joi.string(), gitlab: joi.string(), gitea: joi.string() }).description(
        'Where each forge sends its webhooks',
      ),
    }),
  ),
  errors: ['not_found'],
  handle: async ({ principal, params: { slug: project = '' } }) => {
    const forge_secret = await secrets.createSecret(principal, project);
    const addresses = Object.fromEntries(listForgeAddresses(baseUrl(), project).map(({ forge, url }) => [forge, url]));
    return created({ forge_secret, addresses }).header('cache-control', 'no-store');
  },
});

import joi from 'joi';
import {
  Redirect,
  Reply,
  View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import { PLATFORMS } from '../../../lib/formats/platform.js';
import { formatSentence } from '../../../lib/sentence.js';
import type { UploadedBody } from '../../../ports/http/index.js';
import { checkChannel, checkPlatform, checkVersion } from '../release-place.js';
import { MAX_NOTES_BYTES } from '../publishing/package-receiver.js';
import type { PublishRequest } from '../publishing/publisher.js';
import { listPublishMethods } from '../publishing/publish-methods.js';
import type { ReleaseServices } from '../services.js';
import { listChannels, parsePercent } from './form-options.js';
import { RELEASE_ADMIN_AUTH, RELEASES_CRUMB } from './release-display.js';

const PAGE_TITLE = 'Publish release';
const PAGE_PATH = '/releases/new';
/** Sent in this order before the package. */
const FORM_FIELDS = [
  'product',
  'version',
  'channel',
  'platform',
  'rollout_percent',
  'notes',
  'mandatory',
  'preserve_patterns',
];

type FormValues = Partial<Record<string, string>>;

async function toPublishRequest(
  services: ReleaseServices,
  formValues: FormValues,
  by: string,
): Promise<PublishRequest> {
  const product = formValues['product'] ?? '';
  if ((await services.deps.projects.get(product)) === null) throw invalid({ product: 'is required' });
  return {
    product,
    version: checkVersion(formValues['version'] ?? ''),
    channel: checkChannel(formValues['channel'] || 'stable', invalid, 'channel'),
    platform: checkPlatform(formValues['platform'] || 'any'),
    build: null,
    mandatory: formValues['mandatory'] === 'true',
    rollout_percent: parsePercent(formValues['rollout_percent'] || '100'),
    min_version: null,
    by,
  };
}

async function renderForm(services: ReleaseServices, formValues: FormValues, problem: object = {}): Promise<View> {
  const { deps } = services;
  const products = (await deps.projects.list())
    .filter(({ archived }) => !archived)
    .map(({ slug, name }) => ({ value: slug, label: name }));
  const product = products.find(({ value }) => value === formValues['product'])?.value ?? products[0]?.value;
  return new View('release-new', {
    title: PAGE_TITLE,
    crumbs: [RELEASES_CRUMB, { label: PAGE_TITLE }],
    products,
    platforms: PLATFORMS.map((value) => ({ value, label: value })),
    channels: listChannels(services.index, product),
    form: { channel: 'stable', platform: 'any', rollout_percent: '100', ...formValues, product },
    ways: listPublishMethods(deps.baseUrl(), product ?? 'shop'),
    most: deps.packageBytes,
    ...problem,
  });
}

const FIELD_LABELS: Readonly<Record<string, string>> = { rollout_percent: 'Rollout', notes: 'Release notes' };

const formatFieldErrors = (faults: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(faults).map(([name, text]) => [
      name,
      formatSentence(text, FIELD_LABELS[name] ?? formatSentence(name).slice(0, -1)),
    ]),
  );

/** `meta.preserve_patterns.1` is the second line. */
function toFormErrors(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      const [, line] = /^meta\.preserve_patterns(?:\.(\d+))?$/.exec(name) ?? [];
      if (!name.startsWith('meta.preserve_patterns')) return [name, text];
      return ['preserve_patterns', line === undefined ? text : `pattern ${Number(line) + 1} ${text}`];
    }),
  );
}

const acceptsJson = ({ headers }: HttpRequest): boolean => headers['accept']?.includes('application/json') === true;

async function publish(services: ReleaseServices, request: HttpRequest): Promise<PageResult> {
  const body = request.body as UploadedBody;
  const { principal } = request;
  const formValues: FormValues = await body.readLeadingFields();
  try {
    const by = principal.kind === 'session' ? principal.username : principal.kind;
    const announced = { sha256: undefined, notes: undefined, meta: undefined };
    const publishRequest = await toPublishRequest(services, formValues, by);
    const { release, outcome, warnings } = await services.uploads.publish(principal, {
      request: { ...publishRequest, reauthorize: () => request.reauthorize() },
      body: { ...body, readFields: createPartsReader(body) },
      announced,
    });
    const done = outcome === 'unchanged' ? 'was already published with this package' : 'published';
    const message = [`${release.product} ${release.version} ${done}.`, ...warnings].join(' ');
    const to = `/releases/${release.id}`;
    const tone = warnings.length > 0 ? 'warning' : 'success';
    return acceptsJson(request) ? new Reply(200, { location: to, message }) : new Redirect(to, { tone, message });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { message } = error;
    const errors = toFormErrors(error.fields ?? {});
    if (acceptsJson(request)) return new Reply(error.status, { message, fields: formatFieldErrors(errors) });
    const again = await renderForm(services, formValues, { message, errors });
    return again.withRejection(error.status, { code: error.code, message, fields: errors });
  }
}

const createPartsReader = (body: UploadedBody) => async (): Promise<Record<string, string>> => {
  const { notes = '', preserve_patterns: lines = '' } = await body.readFields();
  const patterns = lines.split(/\r?\n/).map((line) => line.trim());
  const preserve_patterns = patterns.filter((line) => line !== '');
  return {
    ...(notes.trim() !== '' && { notes }),
    ...(preserve_patterns.length > 0 && { meta: JSON.stringify({ preserve_patterns }) }),
  };
};

export const publishPages = (services: ReleaseServices): PageSpec[] => [
  {
    path: PAGE_PATH,
    title: PAGE_TITLE,
    access: RELEASE_ADMIN_AUTH,
    projectQuery: 'product',
    input: { query: joi.object({ product: joi.string().max(64).empty('') }) },
    handle: ({ query }) => renderForm(services, query as FormValues),
  },
  {
    method: 'POST',
    path: PAGE_PATH,
    title: PAGE_TITLE,
    access: RELEASE_ADMIN_AUTH,
    upload: {
      file: 'package',
      fields: FORM_FIELDS,
      fieldBytes: MAX_NOTES_BYTES * 4,
      bytes: services.deps.packageBytes,
    },
    handle: (request) => publish(services, request),
  },
];

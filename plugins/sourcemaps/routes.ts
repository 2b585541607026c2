import joi from 'joi';
import { withSchemaName, Reply, whole, type HttpRequest, type RouteSpec } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import { MAX_CHUNKS_PER_UPLOAD, CHUNK_BYTES } from './model.js';
import { parseForm } from './multipart.js';
import { buildToolReleaseRoutes, type ToolReleaseDeps } from './tool-releases.js';
import {
  withTrailingSlash,
  BASE_PATH,
  toMapUploader,
  getProjectHints,
  organizationSchema,
  sharedRouteOptions,
  slugSchema,
  versionSchema,
} from './tool-paths.js';
import type { AssembleRequest, MapUploadService, ReleaseFile } from './uploads.js';

const MAX_CHUNKS_PER_REQUEST = 16;
const MAX_FORM_BYTES = MAX_CHUNKS_PER_REQUEST * CHUNK_BYTES + 64 * 1024;
const MAX_FILE_BYTES = 32 * 1024 * 1024;
const SHA1_PATTERN = /^[0-9a-f]{40}$/;

const optionalTextSchema = joi.string().min(1).max(200).allow(null, '').empty([null, '']).default(null);

const chunkOptionsSchema = withSchemaName(
  'ChunkUploadOptions',
  whole({
    url: joi.string(),
    chunkSize: joi.number().integer(),
    chunksPerRequest: joi.number().integer(),
    maxFileSize: joi.number().integer(),
    maxRequestSize: joi.number().integer(),
    concurrency: joi.number().integer(),
    hashAlgorithm: joi.string(),
    compression: joi.array().items(joi.string()),
    accept: joi.array().items(joi.string()),
  }),
);

const assembleBodySchema = joi.object({
  checksum: joi.string().pattern(SHA1_PATTERN).required().description('SHA-1 of the bundle'),
  chunks: joi
    .array()
    .items(joi.string().pattern(SHA1_PATTERN))
    .min(1)
    .max(MAX_CHUNKS_PER_UPLOAD)
    .required()
    .description('SHA-1 of each chunk, in order'),
  projects: joi.array().items(joi.string().max(200)).max(20).default([]).description('Default: that of the token'),
  version: optionalTextSchema.description('The release'),
  dist: optionalTextSchema,
});

const assembleResponseSchema = withSchemaName(
  'AssembleAnswer',
  whole({
    state: joi.string().valid('not_found', 'assembling', 'ok', 'error'),
    missingChunks: joi.array().items(joi.string()).description('To be sent'),
    detail: joi.string().allow(null).description('Why it cannot be used'),
  }),
);

const fileResponseSchema = withSchemaName(
  'ReleaseFile',
  whole({
    id: joi.string(),
    name: joi.string(),
    sha1: joi.string(),
    dist: joi.string().allow(null),
    size: joi.number().integer(),
    headers: joi.object(),
  }),
);

export const buildSourceMapRoutes = (
  uploads: MapUploadService,
  about: { url(): string } & Omit<ToolReleaseDeps, 'uploads'>,
): RouteSpec[] => [
  ...buildChunkRoutes(uploads, () => about.url()),
  ...buildToolReleaseRoutes({ uploads, ...about }),
  ...buildFileRoutes(uploads),
];

function buildChunkRoutes(uploads: MapUploadService, url: () => string): RouteSpec[] {
  const params = joi.object({ org: organizationSchema });
  return [
    {
      ...sharedRouteOptions,
      ...withTrailingSlash('/organizations/{org}/chunk-upload'),
      method: 'GET',
      operationId: 'getChunkUploadOptions',
      summary: 'Get the upload options of sentry-cli',
      input: { params },
      output: chunkOptionsSchema,
      handle: ({ params: { org = '' } }) => ({
        url: `${url()}${BASE_PATH}/organizations/${encodeURIComponent(org)}/chunk-upload/`,
        chunkSize: CHUNK_BYTES,
        chunksPerRequest: MAX_CHUNKS_PER_REQUEST,
        maxFileSize: MAX_CHUNKS_PER_UPLOAD * CHUNK_BYTES,
        maxRequestSize: MAX_CHUNKS_PER_REQUEST * CHUNK_BYTES,
        concurrency: 2,
        hashAlgorithm: 'sha1',
        compression: [],
        accept: ['release_files', 'sources', 'artifact_bundles', 'artifact_bundles_v2'],
      }),
    },
    {
      ...sharedRouteOptions,
      ...withTrailingSlash('/organizations/{org}/chunk-upload'),
      method: 'POST',
      operationId: 'uploadChunks',
      summary: 'Upload chunks of a source map bundle',
      description: `Parts \`file\` of at most ${CHUNK_BYTES} bytes, each named by the SHA-1 of its content. Chunks without a bundle are deleted after a day.`,
      input: { params, mediaType: 'multipart/form-data' },
      output: joi.object({}),
      limits: { payload: 'raw', bytes: MAX_FORM_BYTES, space: true },
      handle: async (request) => {
        const form = await parseForm(request.body as Buffer, request.headers['content-type']);
        const pieces = await Promise.all(
          form.getAll('file').map(async (part) => {
            if (typeof part === 'string')
              throw invalid({ file: 'must have the SHA-1 of its content as its file name' });
            return { name: part.name, bytes: new Uint8Array(await part.arrayBuffer()) };
          }),
        );
        if (pieces.length === 0) throw invalid({ file: 'is required' });
        await uploads.storeChunks(toMapUploader(request), pieces);
        return {};
      },
    },
    {
      ...sharedRouteOptions,
      ...withTrailingSlash('/organizations/{org}/artifactbundle/assemble'),
      method: 'POST',
      operationId: 'assembleArtifactBundle',
      summary: 'Assemble a bundle from uploaded chunks',
      description:
        'From then on its maps are applied to frames of minified scripts: by debug id, else by release and URL. On `not_found`: ' +
        'send `missingChunks`, and repeat the request.',
      input: { params, body: assembleBodySchema },
      output: assembleResponseSchema,
      handle: (request) => uploads.assemble(toMapUploader(request), request.body as AssembleRequest),
    },
  ];
}

function buildFileRoutes(uploads: MapUploadService): RouteSpec[] {
  const ofRelease = joi.object({ org: organizationSchema, version: versionSchema });
  const ofProject = ofRelease.keys({ project: slugSchema });
  const put = {
    ...sharedRouteOptions,
    method: 'POST',
    summary: 'Upload a script or a source map of a release, as older tools do',
    description:
      'Parts: `file`; `name`, its URL with `~` for scheme and host; `dist`; `header`, in which `Sourcemap: <URL>` is ' +
      'the map of a script; `project`, if it is neither in the path nor in the token.',
    output: fileResponseSchema,
    status: 201,
    errors: [...sharedRouteOptions.errors, 'payload_too_large'],
    limits: { payload: 'raw', bytes: MAX_FILE_BYTES, space: true },
    handle: (request: HttpRequest) => uploadFile(uploads, request),
  } satisfies Partial<RouteSpec>;
  const list = {
    ...sharedRouteOptions,
    method: 'GET',
    summary: 'List the scripts and source maps of a release',
    output: joi.array().items(fileResponseSchema),
    handle: async (request: HttpRequest) => {
      const { project, version: release = '' } = request.params;
      const named = project === undefined ? [] : [project];
      const files = await uploads.listFiles(toMapUploader(request), named, release, getProjectHints(request));
      return files.map(toFileView);
    },
  } satisfies Partial<RouteSpec>;
  const multipart = 'multipart/form-data';
  return [
    {
      ...put,
      ...withTrailingSlash('/projects/{org}/{project}/releases/{version}/files'),
      operationId: 'uploadReleaseFile',
      input: { params: ofProject, mediaType: multipart },
    },
    {
      ...put,
      ...withTrailingSlash('/organizations/{org}/releases/{version}/files'),
      operationId: 'uploadReleaseFileOfToken',
      input: { params: ofRelease, mediaType: multipart },
    },
    {
      ...list,
      ...withTrailingSlash('/projects/{org}/{project}/releases/{version}/files'),
      operationId: 'listReleaseFiles',
      input: { params: ofProject },
    },
    {
      ...list,
      ...withTrailingSlash('/organizations/{org}/releases/{version}/files'),
      operationId: 'listReleaseFilesOfToken',
      input: { params: ofRelease },
    },
  ];
}

const toFileView = ({ sha1, name, dist, size }: ReleaseFile): object => ({
  id: sha1,
  name,
  sha1,
  dist,
  size,
  headers: {},
});

async function uploadFile(uploads: MapUploadService, request: HttpRequest): Promise<Reply> {
  const { version: release = '' } = request.params;
  const form = await parseForm(request.body as Buffer, request.headers['content-type']);
  const file = form.get('file');
  if (file === null || typeof file === 'string') throw invalid({ file: 'is required, with a file name' });
  const name = toText(form.get('name')) ?? `~/${file.name}`;
  if (name.length > 1_000) throw invalid({ name: 'must have at most 1000 characters' });
  const dist = toText(form.get('dist'));
  const bytes = Buffer.from(await file.arrayBuffer());
  const mapUrl =
    form
      .getAll('header')
      .map(parseMapHeader)
      .find((url) => url !== null) ?? null;
  const project = request.params['project'] ?? toText(form.get('project'));
  const given = { project, hints: getProjectHints(request), release, dist, url: name, mapUrl, bytes };
  const { sha1 } = await uploads.storeFile(toMapUploader(request), given);
  return new Reply(201, toFileView({ sha1, name, dist, size: bytes.length }));
}

const toText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

const parseMapHeader = (header: unknown): string | null =>
  typeof header === 'string' ? (/^(?:x-)?sourcemap:\s*(\S{1,900})\s*$/i.exec(header)?.[1] ?? null) : null;

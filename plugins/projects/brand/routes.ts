import joi from 'joi';
import {
  withSchemaName,
  withJsonSchema,
  whole,
  type HttpRequest,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { MAX_LOGO_BYTES } from '../../../lib/brand/logo.js';
import { brandBodySchema, brandSchema, type BrandFields } from './brand.js';
import type { BrandService } from './brands.js';
import { SLUG_PATTERN } from '../project.js';

const BRAND_PATH = '/api/projects/v1/projects/{slug}/brand';
const READ_ACCESS = { scope: 'projects:read' } as const;
const MANAGE_ACCESS = { scope: 'projects:manage' } as const;
const params = joi.object({ slug: joi.string().pattern(SLUG_PATTERN, 'slug').required() });
const outputSchema = withSchemaName('ProjectBrandAnswer', whole({ brand: brandSchema }));
const getSlug = ({ params: { slug = '' } }: HttpRequest): string => slug;

export const buildBrandRoutes = (brands: BrandService): RouteSpec[] => [
  {
    method: 'GET',
    path: BRAND_PATH,
    operationId: 'getProjectBrand',
    summary: 'Get the brand of a project, as shown to customers',
    access: READ_ACCESS,
    input: { params },
    output: outputSchema,
    errors: ['not_found'],
    handle: async (request) => ({ brand: await brands.getView(request.principal, getSlug(request)) }),
  },
  {
    method: 'PATCH',
    path: BRAND_PATH,
    operationId: 'changeProjectBrand',
    summary: 'Change the given fields of the brand of a project',
    description: 'Shown on the page `/license`, and on status pages of the project without their own brand.',
    access: MANAGE_ACCESS,
    input: { params, body: brandBodySchema },
    output: outputSchema,
    errors: ['not_found'],
    handle: async (request) => ({
      brand: await brands.change(request.principal, getSlug(request), request.body as BrandFields),
    }),
  },
  {
    method: 'PUT',
    path: `${BRAND_PATH}/logo`,
    operationId: 'setProjectLogo',
    summary: 'Set the logo of a project',
    description: `The body must be a PNG, JPEG or WebP image of at most ${MAX_LOGO_BYTES / 1024} KiB; the type is detected from its bytes.`,
    access: MANAGE_ACCESS,
    input: {
      params,
      body: withJsonSchema({ type: 'string', format: 'binary' }, joi.binary().required()),
      mediaType: 'application/octet-stream',
    },
    limits: { payload: 'raw', bytes: MAX_LOGO_BYTES },
    output: outputSchema,
    errors: ['not_found', 'validation_failed'],
    handle: async (request) => {
      const { body } = request;
      if (!Buffer.isBuffer(body) || body.length === 0) throw invalid({ logo: 'is required' });
      return { brand: await brands.change(request.principal, getSlug(request), {}, body) };
    },
  },
  {
    method: 'DELETE',
    path: `${BRAND_PATH}/logo`,
    operationId: 'removeProjectLogo',
    summary: 'Remove the logo of a project',
    access: MANAGE_ACCESS,
    input: { params },
    output: outputSchema,
    errors: ['not_found'],
    handle: async (request) => ({ brand: await brands.change(request.principal, getSlug(request), {}, null) }),
  },
];

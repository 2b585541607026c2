import joi from 'joi';
import {
  getFormFields,
  createFormPage,
  fromForm,
  Redirect,
  text,
  View,
  type FormFile,
  type HttpRequest,
  type PageSpec,
  type FormRejection,
} from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { formatBrandStyles } from '../../../lib/brand/colour.js';
import { MAX_LOGO_BYTES, LOGO_HEADERS, LOGO_TYPES } from '../../../lib/brand/logo.js';
import { brandBodySchema, type BrandFields } from './brand.js';
import type { BrandService } from './brands.js';
import { SLUG_PATTERN } from '../project.js';
import type { ProjectService } from '../service.js';

const adminAccess = { session: 'admin' } as const;
const title = 'Branding';
const BRAND_PATH = '/projects/{slug}/brand';
const params = joi.object({ slug: joi.string().pattern(SLUG_PATTERN, 'slug').required() });
/** Maximum delay of other processes' changes. */
const sharedCache = { maxAgeMs: 1_600 };

const toText = (value: unknown): string | null => (typeof value === 'string' ? value.trim() : '') || null;
const getSlug = ({ params: { slug = '' } }: HttpRequest): string => slug;

export function buildBrandPages(projects: ProjectService, brands: BrandService): PageSpec[] {
  const page = async (request: HttpRequest, problem?: FormRejection): Promise<View> => {
    const { id: slug, name } = await projects.getProject(request.principal, getSlug(request));
    const brand = await brands.getView(request.principal, slug);
    const { seller, colour } = problem === undefined ? brand : getFormFields(request);
    return new View('brand-form', {
      title,
      slug,
      brand,
      form: { seller, colour },
      types: LOGO_TYPES.join(','),
      logo_kib: MAX_LOGO_BYTES / 1024,
      preview: (await brands.find(slug)) && `/license?product=${encodeURIComponent(slug)}`,
      crumbs: [{ label: 'Projects', href: '/projects' }, { label: name, href: `/projects/${slug}` }, { label: title }],
      ...problem,
    });
  };
  const file = (name: string, make: (slug: string) => Promise<ReturnType<typeof text>>): PageSpec => ({
    path: `/brand/{slug}/${name}`,
    title,
    access: 'public',
    shared: sharedCache,
    input: { params },
    handle: (request) => make(getSlug(request)),
  });
  return [
    { path: BRAND_PATH, title, access: adminAccess, input: { params }, handle: (request) => page(request) },
    createFormPage(
      { path: BRAND_PATH, title, access: adminAccess, input: { params }, files: true },
      async (request) => {
        const form = getFormFields(request);
        const given = { seller: toText(form['seller']), colour: toText(form['colour']) };
        const fields = fromForm(brandBodySchema, given, { convert: true }) as BrandFields;
        const { bytes } = (form['logo'] ?? {}) as Partial<FormFile>;
        // Browsers send an empty file field without a selection.
        const picked = Buffer.isBuffer(bytes) && bytes.length > 0 ? bytes : undefined;
        const logo = picked ?? (form['no_logo'] === 'true' ? null : undefined);
        const slug = getSlug(request);
        await brands.change(request.principal, slug, fields, logo);
        return new Redirect(`/projects/${slug}/brand`, { tone: 'success', message: 'Branding saved.' });
      },
      page,
    ),
    file('logo', async (slug) => {
      const logo = await brands.readLogo(slug);
      if (logo === null) throw notFound('such picture');
      const picture = text(logo.bytes, logo.type);
      for (const [name, value] of Object.entries(LOGO_HEADERS)) picture.header(name, value);
      return picture;
    }),
    file('brand.css', async (slug) => {
      const brand = await brands.find(slug);
      if (brand === null) throw notFound('such style sheet');
      return text(formatBrandStyles(brand.colour), 'text/css; charset=utf-8');
    }),
  ];
}

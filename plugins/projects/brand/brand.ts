import joi from 'joi';
import { withSchemaName, whole, type Doc } from '../../../kernel/contract/index.js';
import { COLOUR_PATTERN, COLOUR_MESSAGE } from '../../../lib/brand/colour.js';
import type { SellerBrand } from '../../../ports/domain/projects.js';

export interface Brand extends Doc {
  /** '' for none; the index finds projects with a seller. */
  seller: string;
  colour: string | null;
  logo_type: string | null;
  /** Base64. */
  logo: string | null;
  updated_at: string;
}

export interface BrandFields {
  seller?: string | null;
  colour?: string | null;
}

export interface BrandView {
  seller: string | null;
  colour: string | null;
  logo_type: string | null;
  logo: string | null;
}

const getBrandPath = (slug: string, file: string): string => `/brand/${encodeURIComponent(slug)}/${file}`;

export const toBrandView = (slug: string, brand: Brand | null): BrandView => ({
  seller: brand?.seller || null,
  colour: brand?.colour ?? null,
  logo_type: brand?.logo_type ?? null,
  logo: (brand?.logo_type ?? null) === null ? null : getBrandPath(slug, 'logo'),
});

export function toSellerBrand(slug: string, brand: Brand | null): SellerBrand | null {
  const { seller: name, colour, logo } = toBrandView(slug, brand);
  return name === null && colour === null && logo === null
    ? null
    : { name, colour, css: getBrandPath(slug, 'brand.css'), logo };
}

export const brandBodySchema = withSchemaName(
  'ProjectBrandChange',
  joi
    .object({
      seller: joi
        .string()
        .trim()
        .max(100)
        .pattern(/\p{Cc}/u, { invert: true, name: 'free of control characters' })
        .allow(null, '')
        .description('Name shown to customers; null for none'),
      colour: joi
        .string()
        .pattern(COLOUR_PATTERN)
        .message(COLOUR_MESSAGE)
        .allow(null)
        .empty('')
        .description('Header color of public pages; the text on it is black or white, depending on contrast'),
    })
    .example({ seller: 'Shop Ltd', colour: '#0a6640' }),
);

export const brandSchema = withSchemaName(
  'ProjectBrand',
  whole({
    seller: joi.string().allow(null),
    colour: joi.string().allow(null),
    logo_type: joi.string().allow(null).description('`image/png`, `image/jpeg` or `image/webp`'),
    logo: joi.string().allow(null).description('Path of the image'),
  }),
);

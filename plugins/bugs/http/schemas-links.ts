import joi from 'joi';
import { withSchemaName, whole } from '../../../kernel/contract/index.js';
import { LINK_KINDS } from '../item/link-kinds.js';
import { itemStatusSchema, severitySchema } from '../lists/query-schema.js';
import { claimToken } from './schemas.js';

const link = {
  kind: joi.string().valid(...LINK_KINDS),
  ref: joi.string().min(1).max(100),
  claim_token: claimToken,
};
export const linkBody = withSchemaName(
  'LinkRequest',
  joi
    .object({ ...link, kind: link.kind.required(), ref: link.ref.required(), remove: joi.boolean() })
    .description('`kind`: relation of this item to the item `ref`, which is an id or a ref')
    .example({ kind: 'blocked_by', ref: 'shop-17' }),
);
/** Clients without a DELETE body use the query. */
export const unlinkQuery = joi.object(link);
export const unlinkBody = withSchemaName('UnlinkRequest', joi.object(link));
export const linksSchema = joi
  .array()
  .items(
    withSchemaName(
      'ItemLink',
      whole({
        kind: joi
          .string()
          .valid(...LINK_KINDS)
          .description('Relation of this item to the other; `discovered` is the reverse of `discovered_from`'),
        id: joi.string(),
        ref: joi.string(),
        project: joi.string(),
        title: joi.string(),
        status: itemStatusSchema,
        severity: severitySchema,
        finished: joi.boolean().description('Resolved, closed, won’t fix or a duplicate, so it does not block'),
        untrusted_fields: joi.array().items(joi.string()),
      }),
    ),
  )
  .description('Links to other items that the caller can read; blocking items first');
export const itemStateSchema = withSchemaName(
  'ItemState',
  whole({ ref: joi.string(), status: itemStatusSchema, rev: joi.number().integer().min(0) }),
);
export const linkedOutput = withSchemaName('ItemLinked', whole({ item: itemStateSchema, links: linksSchema }));

/** `/api/updateservice/v1` (contract 40). */
import type { RouteSpec } from '../../../kernel/contract.js';
import type { Services } from '../services.js';
import { askingRoutes } from './asking-routes.js';
import { publishingRoutes } from './publishing-routes.js';

export const routes = (services: Services): RouteSpec[] => [...askingRoutes(services), ...publishingRoutes(services)];

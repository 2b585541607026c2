export const JSON_MEDIA_TYPE = 'application/json';
export const PROTOBUF_MEDIA_TYPE = 'application/x-protobuf';

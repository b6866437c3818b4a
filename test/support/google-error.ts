// The gateway's word for a failure in Google's error shape: the reason of its ErrorInfo.
export function wordCode(error: { code?: unknown; details?: unknown }): unknown {
  if (typeof error.code !== 'number') return error.code
  const details = (error.details ?? []) as { '@type': string; reason?: string }[]
  return details.find((detail) => detail['@type'] === 'type.googleapis.com/google.rpc.ErrorInfo')?.reason ?? null
}

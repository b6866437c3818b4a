/** The path under which a host mounts the gateway: '' or `/llm`. */
export const mount: string = mountOf(document.querySelector<HTMLMetaElement>('meta[name="hookgate-mount"]')?.content ?? '')

/** The development server leaves the placeholder in place. */
function mountOf(content: string): string {
  return content.startsWith('/') ? content : ''
}

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { keepFirstField } from './first-field.ts'

interface DialogProps {
  title: string
  onClose: () => void
  /** True: Escape does not close it, because what it shows cannot be seen again. */
  guarded?: boolean
  children: ComponentChildren
}

export function Dialog({ title, onClose, guarded = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the next key arrives, so that a dialog gets what is typed right after it was opened.
  useLayoutEffect(() => {
    const element = dialog.current
    if (element === null) return
    element.showModal()
    const end = keepFirstField(element)
    return () => {
      end()
      // Gives the focus back to where it was.
      element.close()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        if (!guarded) onClose()
      }}
    >
      <header>
        <h2>{title}</h2>
        {!guarded && (
          <button type="button" class="button plain" aria-label="Close" onClick={onClose}>
            ✕
          </button>
        )}
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

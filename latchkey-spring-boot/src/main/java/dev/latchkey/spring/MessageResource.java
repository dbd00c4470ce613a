package dev.latchkey.spring;

import dev.latchkey.console.Message;
import java.io.InputStream;
import org.springframework.core.io.AbstractResource;

/** A message for a page, whose bytes are not copied for each that asks. */
final class MessageResource extends AbstractResource {

    private final Message message;

    MessageResource(Message message) {
        this.message = message;
    }

    @Override
    public long contentLength() {
        return message.length();
    }

    @Override
    public InputStream getInputStream() {
        return message.json();
    }

    @Override
    public boolean exists() {
        return true;
    }

    @Override
    public String getDescription() {
        return "what is told to a page that shows locks";
    }
}

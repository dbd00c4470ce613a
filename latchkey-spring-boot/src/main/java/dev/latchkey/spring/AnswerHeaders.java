package dev.latchkey.spring;

import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Headers of an answer, which a web endpoint has no other means to set. Only where servlets answer; a reactive server has none of them. */
final class AnswerHeaders {

    private static final boolean HAS_SERVLETS =
            ClassUtils.isPresent("jakarta.servlet.http.HttpServletResponse", AnswerHeaders.class.getClassLoader());

    private AnswerHeaders() {}

    /** Sets the headers of the answer to the request of this thread. */
    static void set(Map<String, String> headers) {
        if (HAS_SERVLETS) {
            Servlets.set(headers);
        }
    }

    /** Loaded only where its types are. */
    private static final class Servlets {

        private static void set(Map<String, String> headers) {
            if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes request) {
                HttpServletResponse response = request.getResponse();
                if (response != null) {
                    headers.forEach(response::setHeader);
                }
            }
        }
    }
}
